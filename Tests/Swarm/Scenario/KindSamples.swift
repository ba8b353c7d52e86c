import OtaflashFirmware
import OtaflashSimulation

/// Small images, each with a device that takes it over another protocol than the OTA service: every
/// way that such an update goes.
public enum KindSamples {
  private static let size = 3000
  /// Each without what flash takes, where that changes no step.
  private static let profiles =
    [
      "mode=swap", "mode=overwrite&progressive=yes", "mode=single", "mode=firmware-loader",
      "mode=direct-xip", "mode=direct-xip-revert", "mode=ram-load",
      "netbufs=4x384&reassembly=no&mtu=247", "params=no&bootinfo=no&check=no", "v1=yes", "images=2",
      "unit=8", "unit=32&netbufs=4x512&reassembly=no", "server=2021",
      "server=2021&params=yes&unit=16",
      "mode=overwrite&decompress=yes", "mode=swap&decompress=yes",
    ].map { "smp?erase=0&write=0&slot=64K&" + $0 }
    + [
      "entry=buttonless", "entry=experimental", "entry=bonded", "entry=button", "banks=single",
      "mtu=23", "information=no",
    ].map { "nordic-dfu?erase=0&write=0&slot=64K&" + $0 }
    + [
      "nordic-legacy?erase=0&write=0&slot=64K",
      "nordic-legacy?erase=0&write=0&slot=64K&entry=button",
      "nordic-legacy?erase=0&write=0&slot=64K&banks=dual",
      "nordic-legacy?erase=0&write=0&slot=64K&variant=adafruit",
      "nordic-legacy?erase=0&write=0&slot=64K&variant=adafruit&banks=dual&entry=button",
      "infinitime?erase=0&write=0&slot=64K",
    ]

  public static func scenarios() throws -> [Scenario] {
    try profiles.map { profile in
      var scenario = Scenario(profile: profile, image: try .drawn(for: profile, size: size))
      if profile.contains("images=2") {
        scenario.otherImages = [try .drawn(for: profile, size: size, seed: 2, index: 1)]
      }
      return scenario
    }
  }
}
