/// The reason why the addresses of a file do not describe one image.
#if hasAttribute(nonexhaustive)
@nonexhaustive
#endif
public enum AddressFault: Error, Equatable, Sendable {
  /// A range of a file's data, which may have small gaps.
  public struct Place: Equatable, Sendable {
    /// The addresses of the data.
    public let region: AddressRegion
    /// The number of data bytes in the file.
    public let dataCount: Int

    /// Creates a range of a file's data.
    public init(region: AddressRegion, dataCount: Int) {
      self.region = region
      self.dataCount = dataCount
    }
  }

  /// The file has data in ranges that are too far apart for one image; each range could be the
  /// image.
  case farApart([Place])
  /// The file has data only in regions that updates never write.
  case nothingElse([Place])
  /// The file has no data in the requested region.
  case nothingIn(AddressRegion, [Place])
  /// A region was requested, but the file has no addresses.
  case noAddresses
  /// The range from the lowest to the highest address exceeds the limit in bytes.
  case spanTooLarge(AddressRegion, limit: Int)
}

extension AddressFault {
  /// The ranges of the file's data, the largest first.
  public var places: [Place] {
    switch self {
    case .farApart(let places), .nothingElse(let places), .nothingIn(_, let places):
      places.sorted { $0.dataCount > $1.dataCount }
    case .noAddresses, .spanTooLarge: []
    }
  }
}

extension AddressFault: CustomStringConvertible {
  /// The maximum number of ranges in a message.
  private static let placesMaximum = 6

  public var description: String {
    switch self {
    case .farApart(let places):
      "its data is in \(places.count) regions that are far apart: \(Self.list(places))"
    case .nothingElse(let places):
      "it contains only data that updates do not write: \(Self.list(places))"
    case .nothingIn(let region, let places):
      "it has no data in \(region); its data is in \(Self.list(places))"
    case .noAddresses: "files of this kind have no addresses, so no region can be selected"
    case .spanTooLarge(let region, let limit): "\(region) is more than \(limit) bytes"
    }
  }

  private static func list(_ places: [Place]) -> String {
    let shown = places.prefix(placesMaximum).map { "\($0.region) (\($0.dataCount) B)" }
    let rest = places.count - shown.count
    return (shown + (rest > 0 ? ["\(rest) more"] : [])).joined(separator: ", ")
  }
}
