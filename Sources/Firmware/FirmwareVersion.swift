/// The version of an image as the OTA service carries it: `major.minor.patch`, in 4 octets.
public struct FirmwareVersion: Hashable, Comparable, Sendable {
  public let major: UInt8
  public let minor: UInt8
  public let patch: UInt16

  public init(_ major: UInt8, _ minor: UInt8, _ patch: UInt16) {
    self.major = major
    self.minor = minor
    self.patch = patch
  }

  public static func < (left: FirmwareVersion, right: FirmwareVersion) -> Bool {
    (left.major, left.minor, left.patch) < (right.major, right.minor, right.patch)
  }
}

extension FirmwareVersion: LosslessStringConvertible {
  /// Reads `1.3.0`: three decimal numbers, at most 255, 255 and 65535.
  public init?(_ text: String) {
    let parts = text.split(separator: ".", omittingEmptySubsequences: false)
    guard parts.count == 3, !text.contains("+"), let major = UInt8(parts[0]),
      let minor = UInt8(parts[1]), let patch = UInt16(parts[2])
    else { return nil }
    self.init(major, minor, patch)
  }

  public var description: String { "\(major).\(minor).\(patch)" }
}
