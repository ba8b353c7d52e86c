import OtaflashATT
import OtaflashFirmware
import OtaflashGATT
import OtaflashWire

/// Nordic's single-slot firmware loader: an application in slot 1, the only program that can write
/// slot 0 (nRF Connect SDK Bare Metal for nRF54L, `applications/firmware_loader/ble_mcumgr`; nRF
/// Connect SDK from July 2026 on).
enum SMPFirmwareLoader {
  /// The name under which the loader advertises.
  struct Name: Equatable, Sendable {
    /// The setting that holds it.
    static let key = "fw_loader/adv_name"
    /// In bytes: the vendor's buffers have 16, and one of the two versions needs a byte for a NUL.
    static let maximum = 15
    private static let prefix = "OTA"
    private static let digits = 8

    let text: String

    /// Returns `nil` for an empty name, and for one of more than 15 bytes, which a loader refuses
    /// or cuts.
    init?(_ text: String) {
      guard (1...Self.maximum).contains(text.utf8.count) else { return nil }
      self.text = text
    }

    /// A name that is probably unique among nearby devices.
    ///
    /// - Parameter fraction: a random value in 0 ..< 1.
    init(drawnFrom fraction: Double) {
      let number = String(UInt32(fraction * 4_294_967_296), radix: 16, uppercase: true)
      let zeros = String(repeating: "0", count: Self.digits - number.utf8.count)
      text = Self.prefix + zeros + number
    }
  }

  /// Where the loader may be, in search order: bare metal's is at the flipped address, the regular
  /// SDK's at the application's.
  ///
  /// - Parameter retained: contains the name that was set for the loader, if any.
  static func places(_ retained: SMPRetained) -> [DeviceLocation] {
    let name = retained.loaderName.map { DeviceLocation.advertising(name: $0.text) }
    return [.flippedAddress] + [name].compactMap(\.self) + [.home]
  }

  /// Sets the name of the loader and saves it. An application without the settings group has no
  /// such name.
  static func setName(
    over channel: SMPChannel, _ context: UpdateContext, _ retained: RetainedState<SMPRetained>
  ) async throws(UpdateFault) {
    let name = retained.value.loaderName ?? Name(drawnFrom: context.randomFraction())
    let request = SMPSettings.Write(name: Name.key, value: Array(name.text.utf8))
    guard try await channel.isAccepted(request), try await channel.isAccepted(SMPSettings.Save())
    else { return }
    retained.update { $0.loaderName = name }
  }
}

extension SMPImage.State {
  /// The evidence of the running loader about an image that was to be started. An application is
  /// not started: MCUboot found none. An installer has run if its header is cleared and its loader
  /// runs; an installer without a loader leaves nothing to compare.
  func loaderAgreement(with image: FirmwareImage) -> RunningImage.Agreement {
    guard let installer = image.installer else { return .different }
    let slots = slots(of: image.place.imageIndex)
    let isLeft = slots.contains { $0.slot == 0 && $0.stores(image) != .different }
    guard !isLeft else { return .different }
    guard let expected = installer.firmwareLoader?.hash else { return .untold }
    return slots.first { $0.slot == 1 }?.hash == expected.bytes ? .same : .different
  }
}

extension SMPChannel {
  private static let settingTries = 2

  /// Whether the server executes a request that it may not know.
  fileprivate func isAccepted(_ request: some SMPRequest) async throws(UpdateFault) -> Bool {
    do throws(UpdateFault) {
      return switch try await ask(request, .detach, tries: Self.settingTries) {
      case .success: true
      case .failure: false
      }
    } catch .gatt(.detach, .timedOut) {
      return false
    }
  }
}

extension SMPFacts {
  /// The firmware loader answers: it runs in slot 1, and slot 0 is for the application.
  var isLoader: Bool { mode == .firmwareLoader && running(0)?.slot == 1 }

  /// The running application of one of the device's images; `nil` while the loader runs.
  func runningApplication(_ image: Int) -> SMPImage.Slot? { isLoader ? nil : running(image) }

  /// Whether this may be the device that is searched for at `place`. At another address than its
  /// own, only a loader matches and, after activation, an application with a loader.
  func isExpected(at place: DeviceLocation, afterActivation: Bool) -> Bool {
    place == .home || (afterActivation ? mode == .firmwareLoader : isLoader)
  }
}
