import OtaflashFirmware

/// An image of 40,000 bytes, for any hardware.
public let newFirmware = FirmwareImage(
  name: "app", format: .binary, bytes: [UInt8](repeating: 7, count: 40_000),
  version: FirmwareVersion(1, 3, 0), hardware: .any)
