import OtaflashATT
import OtaflashFirmware
import OtaflashGATT
import OtaflashWire

/// Nordic's single-slot firmware loader, an application in slot 1 that is the only program that can
/// write slot 0 (nRF Connect SDK Bare Metal for nRF54L, `applications/firmware_loader/ble_mcumgr`;
/// nRF Connect SDK since July 2026).
enum SMPFirmwareLoader {
  /// The name under which the loader advertises.
  struct Name: Equatable, Sendable {
    /// The setting that contains the name.
    static let key = "fw_loader/adv_name"
    /// The maximum length in bytes: the vendor's buffers have 16 bytes, and one of the two versions
    /// of the loader uses the last byte for a NUL.
    static let maximum = 15
    private static let prefix = "OTA"
    private static let digits = 8

    let text: String

    /// Returns `nil` for an empty name, and for a name of more than 15 bytes, which a loader
    /// refuses or truncates.
    init?(_ text: String) {
      guard (1...Self.maximum).contains(text.utf8.count) else { return nil }
      self.text = text
    }

    /// Creates a name that is probably unique among nearby devices.
    ///
    /// - Parameter fraction: a random value in 0 ..< 1.
    init(drawnFrom fraction: Double) {
      let number = String(UInt32(fraction * 4_294_967_296), radix: 16, uppercase: true)
      let zeros = String(repeating: "0", count: Self.digits - number.utf8.count)
      text = Self.prefix + zeros + number
    }
  }

  /// Returns the possible locations of the loader, in search order. The loader of the Bare Metal
  /// SDK uses the flipped address, and the loader of the regular SDK uses the application's
  /// address.
  ///
  /// - Parameter retained: contains the name that was set for the loader, if any.
  static func places(_ retained: SMPRetained) -> [DeviceLocation] {
    let name = retained.loaderName.map { DeviceLocation.advertising(name: $0.text) }
    return [.flippedAddress] + [name].compactMap(\.self) + [.home]
  }

  /// Sets the name of the loader, and saves it. An application without the settings group does not
  /// support such a name.
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
  /// Returns the result of the comparison with an image that should have started, while the loader
  /// runs. If the image is an application, MCUboot found no valid application. An installer has run
  /// if its header is cleared and its loader runs; after an installer without a loader, there is
  /// nothing to compare.
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

  /// Returns whether the server executes a request that it may not support.
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
  /// Whether the firmware loader answers: it runs in slot 1, and slot 0 is for the application.
  var isLoader: Bool { mode == .firmwareLoader && running(0)?.slot == 1 }

  /// Returns the running application of one of the device's images; `nil` while the loader runs.
  func runningApplication(_ image: Int) -> SMPImage.Slot? { isLoader ? nil : running(image) }

  /// Returns whether this may be the device that the host searches for at `place`. At any address
  /// other than the device's own, only a device that runs the firmware loader matches; after
  /// activation, an application with a firmware loader matches as well.
  func isExpected(at place: DeviceLocation, afterActivation: Bool) -> Bool {
    place == .home || (afterActivation ? mode == .firmwareLoader : isLoader)
  }
}
