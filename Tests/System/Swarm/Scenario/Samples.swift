import Foundation
import OtaflashFirmware
import OtaflashUpdate

/// The images of firmware-samples that a device of board A001 accepts.
public enum Samples {
  /// The files, each with the values that the file itself does not contain.
  private static let files: [(name: String, identity: ImageIdentity)] = [
    ("blink-1.0.0.bin", ImageIdentity()), ("app-1.2.0.bin", ImageIdentity()),
    ("app-1.3.0.bin", ImageIdentity()), ("sensor-1.1.0.hex", ImageIdentity()),
    (
      "plain-1.5.0.bin",
      ImageIdentity(version: FirmwareVersion(1, 5, 0), hardware: HardwareID(0xA001))
    ),
  ]

  /// Reads all of these images.
  ///
  /// - Parameter folder: the path of firmware-samples.
  /// - Throws: `FirmwareFault`, or `CocoaError` for a file that cannot be read.
  public static func all(in folder: String) throws -> [FirmwareImage] {
    try files.map { file in
      let path = URL(fileURLWithPath: folder).appendingPathComponent(file.name)
      return try FirmwareImage.decode(
        name: file.name, bytes: [UInt8](Data(contentsOf: path)), overrides: file.identity)
    }
  }

  /// Returns each image with a device that accepts it, in every write mode.
  public static func scenarios(in folder: String) throws -> [Scenario] {
    try all(in: folder).flatMap { image in
      WriteMode.allCases.map { mode in
        var scenario = Scenario(profile: "fast", image: image)
        scenario.mode = mode
        scenario.allowDowngrade = true
        return scenario
      }
    }
  }
}
