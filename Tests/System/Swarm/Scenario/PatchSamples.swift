import OtaflashFirmware
import OtaflashSimulation
import OtaflashUpdate

/// Small releases of the image that a new board runs, over links on which the host divides their
/// patches into parts of every size.
public struct PatchSample: Sendable {
  /// The number of image bytes in a part.
  public let part: Int
  public let scenario: Scenario

  /// Returns samples with patches in several parts, and samples with one part in every write mode,
  /// with and without flash that is erased ahead.
  public static func all() throws -> [PatchSample] {
    // The slower the link is and the larger the patch is, the smaller the parts are.
    let slow = "fast?slot=64K&mtu=23&interval=500ms"
    var samples = [
      PatchSample(part: 4096, scenario: try .release(slow, size: 36_000, changed: 500)),
      PatchSample(part: 16_384, scenario: try .release(slow, size: 36_000, changed: 200)),
    ]
    for mode in WriteMode.allCases {
      for ahead in ["no", "yes"] {
        let profile = "fast?slot=64K&mtu=247&erase-ahead=\(ahead)"
        var scenario = try Scenario.release(profile, size: 36_000, changed: 0)
        scenario.mode = mode
        samples.append(PatchSample(part: 65_536, scenario: scenario))
      }
    }
    return samples
  }
}

extension Scenario {
  /// Returns the release that follows the factory image; the host stores the factory image.
  ///
  /// - Parameter changed: the number of inserted bytes per 4,000 bytes, in addition to 60 replaced
  ///   bytes.
  static func release(_ profile: String, size: Int, changed: Int) throws -> Scenario {
    let plain = Scenario(profile: profile, image: .drawn(size: 1))
    let storage = FlashMemory(size: try plain.settings().flashSize)
    let running = try factory(profile, storage: storage)
    var random = SeededRandom(seed: 5)
    var bytes = Array(running.prefix(size))
    for place in stride(from: 50, to: size - 700, by: 4000) {
      bytes.replaceSubrange(place..<place + 60, with: random.bytes(count: 60 + changed))
    }
    var scenario = plain
    scenario.image = FirmwareImage(
      name: "release.bin", format: .binary, bytes: Array(bytes.prefix(size)),
      version: FirmwareVersion(1, 3, 0), hardware: HardwareID(0xA001))
    scenario.bases = [running]
    return scenario
  }
}
