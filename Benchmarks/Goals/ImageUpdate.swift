import OtaflashFirmware
import OtaflashGATT
import OtaflashSimulation
import OtaflashUpdate
import Synchronization

/// One update of a simulated device from one image to another, in virtual time. The measured time
/// covers upload and VERIFY, so it includes the data that the device writes to flash after the end
/// of the upload.
struct ImageUpdate {
  struct Undelivered: Error { let report: DeliveryReport? }

  let profile: SimulationProfile
  /// The size of the patch or of the complete image, which is sent.
  let bytes: Int
  let imageSize: Int
  let seconds: Double

  /// Image bytes per second.
  var rate: Double { Double(imageSize) / seconds }
  /// The size of the sent content divided by the image size.
  var ratio: Double { Double(bytes) / Double(imageSize) }

  /// - Parameters:
  ///   - asPatch: whether a patch is sent instead of the complete image.
  ///   - text: the device, as after `-d`.
  init(
    from old: [UInt8], to new: [UInt8], asPatch: Bool, mode: WriteMode = .auto, on text: String
  ) throws {
    let profile = try SimulationProfile(parsing: text)
    let time = Mutex(Duration.zero)
    var first = UpdateOptions()
    first.patches.policy = .never
    first.mode = .withoutResponse
    let before = FirmwareUpdate(image: Self.image(old, 3, profile), options: first)
    var options = UpdateOptions()
    options.patches.policy = asPatch ? .auto : .never
    options.patches.bases = BaseFinder { _ in old }
    options.mode = mode
    let update = FirmwareUpdate(image: Self.image(new, 4, profile), options: options) { event in
      switch event {
      case .stageEnded(.upload, let took), .stageEnded(.verify, let took):
        time.withLock { $0 += took }
      default: break
      }
    }
    // Gives a device that erases ahead enough time after the last update.
    let rest = profile.eraseTime * (2 * profile.slotSize / 4096)
    let result = try VirtualRun.of(profile) { (dialer, clock) async throws(UpdateFault) in
      _ = try await before.run(on: dialer, clock: clock)
      _ = await clock.pause(for: rest)
      return try await update.run(on: dialer, clock: clock)
    }
    let isPatch = if case .difference = result.delivery?.content { true } else { false }
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
