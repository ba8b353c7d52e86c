import OtaflashFirmware
import OtaflashGATT
import OtaflashSimulation
import OtaflashUpdate
import Synchronization

/// One update of a simulated device from one image to another, in virtual time: upload and VERIFY
/// together, so that what the device still holds in RAM when the last byte has come counts, too.
struct ImageUpdate {
  struct Undelivered: Error { let report: DeliveryReport? }

  let profile: SimulationProfile
  /// What went over the air.
  let bytes: Int
  let imageSize: Int
  let seconds: Double

  /// Bytes of image per second.
  var rate: Double { Double(imageSize) / seconds }
  /// Of what was sent, in bytes of image.
  var ratio: Double { Double(bytes) / Double(imageSize) }

  /// - Parameters:
  ///   - asPatch: what differs is sent; else the image byte by byte.
  ///   - text: the device, as behind `-d`.
  init(
    from old: [UInt8], to new: [UInt8], asPatch: Bool, mode: WriteMode = .auto, on text: String
  ) throws {
    let profile = try SimulationProfile(parsing: text)
    let time = Mutex(Duration.zero)
    var first = UpdateOptions()
    first.delta = .never
    first.mode = .withoutResponse
    let before = FirmwareUpdate(image: Self.image(old, 3, profile), options: first)
    var options = UpdateOptions()
    options.delta = asPatch ? .auto : .never
    options.bases = BaseFinder { _ in old }
    options.mode = mode
    let update = FirmwareUpdate(image: Self.image(new, 4, profile), options: options) { event in
      switch event {
      case .stageEnded(.upload, let took), .stageEnded(.verify, let took):
        time.withLock { $0 += took }
      default: break
      }
    }
    // A device that erases ahead had time for it since the last update.
    let rest = profile.eraseTime * (2 * profile.slotSize / 4096)
    let result = try VirtualRun.of(profile) { (dialer, clock) async throws(UpdateFault) in
      _ = try await before.run(on: dialer, clock: clock)
      _ = await clock.pause(for: rest)
      return try await update.run(on: dialer, clock: clock)
    }
    let isPatch = if case .patch = result.delivery?.content { true } else { false }
    guard isPatch == asPatch else { throw Undelivered(report: result.delivery) }
    self.profile = profile
    bytes = result.delivery?.bytes ?? new.count
    imageSize = new.count
    seconds = time.withLock { $0 } / .seconds(1)
  }

  private static func image(
    _ bytes: [UInt8], _ version: UInt8, _ profile: SimulationProfile
  ) -> FirmwareImage {
    FirmwareImage(
      name: "release", format: .binary, bytes: bytes,
      version: FirmwareVersion(version, 0, 0), hardware: profile.hardware)
  }
}
