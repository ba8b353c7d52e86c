/// The version of an image in the format of the OTA service: `major.minor.patch`, in 4 bytes.
public struct FirmwareVersion: Hashable, Comparable, Sendable {
  /// The major version, 0…255.
  public let major: UInt8
  /// The minor version, 0…255.
  public let minor: UInt8
  /// The patch number, 0…65,535.
  public let patch: UInt16

  /// Creates the version major.minor.patch.
  public init(_ major: UInt8, _ minor: UInt8, _ patch: UInt16) {
    self.major = major
    self.minor = minor
    self.patch = patch
  }

  /// 0.0.0, which is sent if the version is unknown.
  public static let unknown = FirmwareVersion(0, 0, 0)

  public static func < (left: FirmwareVersion, right: FirmwareVersion) -> Bool {
    (left.major, left.minor, left.patch) < (right.major, right.minor, right.patch)
  }
}

extension FirmwareVersion: LosslessStringConvertible {
  /// Parses `1.3.0`: three decimal numbers, at most 255, 255 and 65535. Returns `nil` for other
  /// text.
  public init?(_ text: String) {
    let parts = text.split(separator: ".", omittingEmptySubsequences: false)
    guard parts.count == 3, text.utf8.allSatisfy(Self.isDigitOrDot), let major = UInt8(parts[0]),
      let minor = UInt8(parts[1]), let patch = UInt16(parts[2])
    else { return nil }
    self.init(major, minor, patch)
  }

  /// Rejects signs, which the integers' own initializers would accept.
  private static func isDigitOrDot(_ character: UInt8) -> Bool {
    (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(character) || character == UInt8(ascii: ".")
  }

  public var description: String { "\(major).\(minor).\(patch)" }
}

/// The version as a string, `"1.3.0"`.
extension FirmwareVersion: Codable {
  public init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    guard let version = FirmwareVersion(try container.decode(String.self)) else {
      throw DecodingError.dataCorruptedError(
        in: container, debugDescription: "a version is three numbers: 1.3.0")
    }
    self = version
  }

  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(description)
  }
}
