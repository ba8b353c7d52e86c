import OtaflashFirmware
import OtaflashSimulation

/// Small images, each with a device that accepts the image by a protocol other than the OTA
/// service. The samples cover every variant of an update with these protocols.
public enum KindSamples {
  private static let size = 3000

  public static func scenarios() throws -> [Scenario] {
    try SwarmKinds.all.flatMap { $0.samples }.map { profile in
      var scenario = Scenario(profile: profile, image: try .drawn(for: profile, size: size))
      if profile.contains("images=2") {
        scenario.otherImages = [try .drawn(for: profile, size: size, seed: 2, index: 1)]
      }
      return scenario
    }
  }
}
