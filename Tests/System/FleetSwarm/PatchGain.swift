import OtaflashFirmware
import OtaflashFleet
import OtaflashFleetForecast
import OtaflashGATT
import OtaflashSampleFirmware
import OtaflashSimulation
import OtaflashUpdate

/// A measurement of the effect of patches on a fleet. Boards on one adapter run the same release,
/// and receive the next release, as a patch of 16 % and as the complete image.
struct PatchGain {
  struct Row {
    let name: String
    /// The number of devices per hour.
    let patched: Double
    let whole: Double

    var gain: Double { patched / whole }
    var line: String {
      let tenths = Int((gain * 10).rounded())
      return "\(name): \(Int(patched)) devices per hour by patches, \(Int(whole)) by images, "
        + "\(tenths / 10).\(tenths % 10) times"
    }
  }

  struct Profile {
    let name: String
    let withoutResponse: Bool
    /// The number of concurrent transfers; `nil` = automatic.
    var places: Int?
  }

  static let profiles = [
    Profile(name: "20 links, without response", withoutResponse: true, places: 20),
    Profile(name: "20 links, with response", withoutResponse: false, places: 20),
    Profile(name: "16 links, without response", withoutResponse: true, places: 16),
    Profile(name: "16 links, with response", withoutResponse: false, places: 16),
    Profile(name: "automatic, without response", withoutResponse: true),
    Profile(name: "automatic, with response", withoutResponse: false),
  ]

  private static let size = 512 * 1024
  private static let share = 0.07

  let devices: Int

  func row(of profile: Profile) throws -> Row {
    let release = RelinkedFirmware(size: Self.size, changing: Self.share)
    let fleet = try FleetProfile(parsing: "\(devices)?erase-ahead=yes&slot=1M")
    let flash = try Self.flash(of: fleet.board(0).profile, running: release.old)
    var trial = try FleetSwarm.trial(
      fleet, waves: [("all", .rest)], withoutResponse: profile.withoutResponse,
      places: profile.places,
      sending: Self.image(release.new, FirmwareVersion(1, 3, 0)))
    trial.storage = { (_, bytes) throws(FlashFault) in
      let copy = FlashMemory(size: bytes)
      copy.write(flash.read(0..<bytes), at: 0)
      return copy
    }
    let whole = try rate(trial)
    trial.bases = BaseFinder { _ in release.old }
    return Row(name: profile.name, patched: try rate(trial), whole: whole)
  }

  private func rate(_ trial: CampaignSimulation) throws -> Double {
    let outcome = try trial.run(seed: 1)
    let done = outcome.run.devices.count { $0.ending?.count == .succeeded }
    precondition(done == devices, "every device runs the next release")
    return Double(devices) / (outcome.took / .seconds(3600))
  }

  /// The flash of a board that runs an image and had time to erase the pages for the next image.
  private static func flash(
    of profile: SimulationProfile, running image: [UInt8]
  ) throws -> FlashMemory {
    let flash = FlashMemory(size: profile.flashSize)
    let timeline = VirtualTimeline()
    let board = try SimulatedBoard(profile: profile, storage: flash, clock: timeline.clock)
    let update = FirmwareUpdate(image: Self.image(image, profile.version))
    let rest = profile.eraseTime * (2 * profile.slotSize / 4096)
    let result = try timeline.run { clock in
      await withService {
        await board.run()
      } _: { () -> Result<UpdateResult, UpdateFault> in
        do throws(UpdateFault) {
          let result = try await update.run(on: board.dialer, clock: clock)
          _ = await clock.pause(for: rest)
          return .success(result)
        } catch {
          return .failure(error)
        }
      }
    }
    _ = try result.get()
    return flash
  }

  private static func image(_ bytes: [UInt8], _ version: FirmwareVersion) -> FirmwareImage {
    FirmwareImage(
      name: "app", format: .binary, bytes: bytes, version: version,
      hardware: HardwareID(0x0000_A001))
  }
}
