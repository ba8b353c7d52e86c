import OtaflashATT
import OtaflashFirmware
import OtaflashGATT

/// Nordic's Secure DFU on one connection: with an application, which only restarts into its
/// bootloader, or with the bootloader (README.md in this folder describes the sequence).
struct SecureDFUSession: UpdateSession {
  static let updateProtocol = UpdateProtocol.nordicSecure
  static let services = [SecureDFU.service, ButtonlessVariant.experimental.service]
  static let places: [DeviceLocation] = [.home, .nextAddress]

  private enum Side {
    case application(ApplicationIdentity, ButtonlessEntry?)
    case bootloader(SecureDFUBootloader)
  }

  let context: UpdateContext
  private let client: GATTClient
  private let retained: RetainedState<IdentityBefore>
  private let side: Side

  static func takes(_ image: FirmwareImage) -> Bool { image.secureDFUPackage != nil }

  static func open(
    on client: GATTClient, _ context: UpdateContext, _ retained: RetainedState<IdentityBefore>
  ) async throws(UpdateFault) -> SecureDFUSession {
    let controlPoint: DiscoveredCharacteristic?
    do throws(GATTFault) {
      controlPoint = try await client.characteristic(SecureDFU.controlPoint, in: SecureDFU.service)
    } catch .notFound {
      controlPoint = nil
    } catch {
      throw .gatt(.connect, error)
    }
    if let controlPoint {
      let bootloader = try await SecureDFUBootloader.open(
        on: client, context, controlPoint: controlPoint)
      return SecureDFUSession(
        context: context, client: client, retained: retained, side: .bootloader(bootloader))
    }
    guard context.place != .nextAddress else { throw .strangerAtBootloaderAddress }
    do throws(GATTFault) {
      let identity = try await ApplicationIdentity.read(from: client)
      retained.update { $0.met(identity, isActivated: context.hasActivated) }
      return SecureDFUSession(
        context: context, client: client, retained: retained,
        side: .application(identity, try await ButtonlessEntry.find(on: client)))
    } catch {
      throw .gatt(.connect, error)
    }
  }

  var device: DeviceReport {
    var report = DeviceReport(Self.updateProtocol, protocolVersion: 1)
    switch side {
    case .application(let identity, _): report.runningVersion = identity.version
    case .bootloader(let bootloader):
      report.isInBootloader = true
      report.details = .secureDFU(
        SecureDFUReport(largestPacket: bootloader.packetSizeMaximum))
    }
    return report
  }

  func check(_ image: FirmwareImage) throws(UpdateFault) -> Preflight {
    guard let package = image.secureDFUPackage else {
      throw .imageNotTaken(by: [Self.updateProtocol])
    }
    return try Preflight.check(package, against: device.runningVersion, context.options)
  }

  // MARK: To the bootloader

  var bootloaderPlaces: [DeviceLocation] {
    guard case .application(_, let entry?) = side else { return [] }
    return [entry.bootloaderPlace]
  }

  func detach() async throws(UpdateFault) {
    guard case .application(_, let entry?) = side else { throw .noUpdateService }
    try await entry.enter(advertisedName: advertisedName, on: context.clock)
  }

  /// Generates a name for the bootloader, which distinguishes it from other bootloaders in range:
  /// `Dfu` and five random digits.
  private var advertisedName: String {
    let digits = String(Int(context.randomFraction() * 100_000))
    return "Dfu" + String(repeating: "0", count: max(0, 5 - digits.count)) + digits
  }

  // MARK: In the bootloader

  private func bootloader() throws(UpdateFault) -> SecureDFUBootloader {
    guard case .bootloader(let bootloader) = side else { throw .noUpdateService }
    return bootloader
  }

  func prepare(
    _ plan: UpdatePlan, restart: Bool
  ) async throws(UpdateFault) -> PreparedUpload {
    guard let package = plan.image.initPacket else {
      throw .imageNotTaken(by: [Self.updateProtocol])
    }
    return try await bootloader().prepare(plan.image, package, restart: restart)
  }

  /// Returns `.verified` without a request: the upload compared the CRC32 of every object, and the
  /// activation checks the hash of the image.
  func verify(_ image: FirmwareImage) async throws(UpdateFault) -> UpdateVerdict { .verified }

  func activate(
    _ images: [FirmwareImage], keeping current: [FirmwareImage]
  ) async throws(UpdateFault) {
    try await bootloader().activate()
  }

  // MARK: After the restart

  func placesAfterActivation(of images: [FirmwareImage]) -> [DeviceLocation] {
    context.place.after(images)
  }

  /// A program of a micro:bit need not use Bluetooth.
  func silentRestartLimit(of images: [FirmwareImage]) -> Duration? {
    images.contains { $0.microbit != nil } ? .seconds(15) : nil
  }

  func running(expecting image: FirmwareImage) async throws(UpdateFault) -> RunningImage {
    guard case .application(let identity, _) = side else {
      return image.leavesBootloader ? .newBootloader : .bootloader
    }
    if image.microbit != nil {
      try await MicrobitChannel.checkThatProgramRuns(on: client, clock: context.clock)
    }
    return RunningImage(identity, expecting: image, before: retained.value.identity)
  }
}
