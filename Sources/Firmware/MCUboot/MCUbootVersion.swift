/// The version in an MCUboot header: `major.minor.revision+build` (MCUboot design,
/// `struct image_version`).
///
/// Comparison includes all four numbers. Bootloaders compare the build number only if their build
/// enables this; `firmwareVersion` excludes the build number.
public struct MCUbootVersion: Hashable, Comparable, Sendable {
  /// The major version, 0…255.
  public let major: UInt8
  /// The minor version, 0…255.
  public let minor: UInt8
  /// The revision, 0…65,535.
  public let revision: UInt16
  /// The number of the build; many devices do not report it.
  public let build: UInt32

  /// Creates the version major.minor.revision+build.
  public init(_ major: UInt8, _ minor: UInt8, _ revision: UInt16, build: UInt32 = 0) {
    self.major = major
    self.minor = minor
    self.revision = revision
    self.build = build
  }

  /// The version without the build number.
  public var firmwareVersion: FirmwareVersion { FirmwareVersion(major, minor, revision) }

  public static func < (left: MCUbootVersion, right: MCUbootVersion) -> Bool {
    (left.major, left.minor, left.revision, left.build)
      < (right.major, right.minor, right.revision, right.build)
  }
}

extension MCUbootVersion: LosslessStringConvertible {
  /// Parses `1.2.3`, `1.2.3+4` (the form of imgtool), or `1.2.3.4` (the form that devices report
  /// over SMP). Returns `nil` for other text.
  public init?(_ text: String) {
    let digits = UInt8(ascii: "0")...UInt8(ascii: "9")
    var numbers: [UInt32] = []
    var separators: [Character] = []
    for part in text.split(omittingEmptySubsequences: false, whereSeparator: { ".+".contains($0) })
    {
      // The integers' own initializers would also accept signs.
      guard part.utf8.allSatisfy(digits.contains), let number = UInt32(part) else { return nil }
      numbers.append(number)
    }
    separators = text.filter { ".+".contains($0) }
    guard separators.starts(with: ".."), [[], ["."], ["+"]].contains(separators.dropFirst(2)),
      numbers.count == separators.count + 1, let major = UInt8(exactly: numbers[0]),
      let minor = UInt8(exactly: numbers[1]), let revision = UInt16(exactly: numbers[2])
    else { return nil }
    self.init(major, minor, revision, build: numbers.count == 4 ? numbers[3] : 0)
  }

  /// `1.2.3`, followed by `+4` unless the build number is 0.
  public var description: String { "\(firmwareVersion)" + (build == 0 ? "" : "+\(build)") }
}
