/// Why the addresses of a file give no one image.
#if hasAttribute(nonexhaustive)
@nonexhaustive
#endif
public enum AddressFault: Error, Equatable, Sendable {
  /// A stretch of a file's data, in which there may be small gaps.
  public struct Place: Equatable, Sendable {
    /// Where it lies.
    public let region: AddressRegion
    /// Bytes that the file gives there.
    public let dataCount: Int

    /// A part of a file.
    public init(region: AddressRegion, dataCount: Int) {
      self.region = region
      self.dataCount = dataCount
    }
  }

  /// Data in places too far apart to be one image, and no telling which of them is.
  case farApart([Place])
  /// Nothing but regions that no update writes.
  case nothingElse([Place])
  /// A region was asked for in which the file has no data.
  case nothingIn(AddressRegion, [Place])
  /// A region was asked for, of a file without addresses.
  case noAddresses
  /// From the lowest to the highest address there are more bytes than the limit allows.
  case spanTooLarge(AddressRegion, limit: Int)
}

extension AddressFault {
  /// Where the file has data; the largest place first.
  public var places: [Place] {
    switch self {
    case .farApart(let places), .nothingElse(let places), .nothingIn(_, let places):
      places.sorted { $0.dataCount > $1.dataCount }
    case .noAddresses, .spanTooLarge: []
    }
  }
}

extension AddressFault: CustomStringConvertible {
  /// More places would be no sentence any more.
  private static let placesTold = 6

  public var description: String {
    switch self {
    case .farApart(let places):
      "its data lies in \(places.count) places far apart: \(Self.list(places))"
    case .nothingElse(let places):
      "it has nothing but what no update writes: \(Self.list(places))"
    case .nothingIn(let region, let places):
      "it has no data in \(region); there is some in \(Self.list(places))"
    case .noAddresses: "a file of this kind has no addresses, so no region can be chosen"
    case .spanTooLarge(let region, let limit): "\(region) is more than \(limit) bytes"
    }
  }

  private static func list(_ places: [Place]) -> String {
    let told = places.prefix(placesTold).map { "\($0.region) (\($0.dataCount) B)" }
    let rest = places.count - told.count
    return (told + (rest > 0 ? ["\(rest) more"] : [])).joined(separator: ", ")
  }
}
