/// The software version in the core header of an image for TI's OAD, 4 bytes. TI does not define
/// its format: the default of the SDK is the text `0001`, and other builds use decimal digits in
/// nibbles (BCD) or plain numbers.
public struct OADSoftwareVersion: Hashable, Sendable {
  /// The default of TI's SDK, which most builds never change.
  private static let sdkDefault = Array("0001".utf8)
  private static let erased: [UInt8] = [0xFF, 0xFF, 0xFF, 0xFF]

  /// The 4 bytes in the order of the header.
  public let bytes: [UInt8]

  /// Creates a version from 4 bytes.
  package init(bytes: [UInt8]) {
    precondition(bytes.count == 4)
    self.bytes = bytes
  }

  /// Encodes a version in BCD, for builds that choose their own version. If the major or the minor
  /// number exceeds 99, or the patch number exceeds 9999, all bytes are plain numbers.
  package init(_ version: FirmwareVersion) {
    let patch = [version.patch / 100, version.patch % 100].map { UInt8(truncatingIfNeeded: $0) }
    let numbers = [version.major, version.minor] + patch
    if version.patch < 10_000, numbers.allSatisfy({ $0 < 100 }) {
      bytes = numbers.map { ($0 / 10) << 4 | $0 % 10 }
    } else {
      let high = UInt8(version.patch >> 8)
      bytes = [version.major, version.minor, high, UInt8(truncatingIfNeeded: version.patch)]
    }
  }

  /// Whether the version distinguishes images; the default of the SDK does not.
  public var identifiesImage: Bool { bytes != Self.sdkDefault && bytes != Self.erased }

  /// The version as three numbers: the last two bytes are the patch number.
  public var version: FirmwareVersion {
    if bytes.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) {
      let digits = bytes.map { $0 - UInt8(ascii: "0") }
      return FirmwareVersion(digits[0], digits[1], UInt16(digits[2]) * 10 + UInt16(digits[3]))
    }
    if bytes.allSatisfy({ $0 >> 4 < 10 && $0 & 0xF < 10 }) {
      let numbers = bytes.map { ($0 >> 4) * 10 + $0 & 0xF }
      return FirmwareVersion(numbers[0], numbers[1], UInt16(numbers[2]) * 100 + UInt16(numbers[3]))
    }
    return FirmwareVersion(bytes[0], bytes[1], UInt16(bytes[2]) << 8 | UInt16(bytes[3]))
  }

  /// Returns whether a device that reports this version runs an image with `other`. A device with a
  /// separate stack reports two bytes of the stack, followed by two bytes of the application
  /// (TI BLE5-Stack, `oad.c`).
  public func matches(_ other: OADSoftwareVersion, of type: OADImageType) -> Bool {
    switch type {
    case .application: bytes[2...] == other.bytes[2...]
    case .stack: bytes[..<2] == other.bytes[..<2]
    default: bytes == other.bytes
    }
  }
}
