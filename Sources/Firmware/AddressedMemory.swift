/// Pieces of data at addresses, on their way to one image.
struct AddressedMemory {
  enum Fault: Error, Equatable {
    /// From the lowest to the highest address there are more octets than the limit allows.
    case spanTooLarge(lowest: UInt32, highest: UInt32, limit: Int)
    /// Two pieces give the same address; `first` and `second` are their origins in order.
    case overlap(address: UInt32, first: Int, second: Int)

    /// The origin that gave an address again.
    var secondOrigin: Int? {
      if case .overlap(_, _, let second) = self { second } else { nil }
    }
  }

  /// What the memory between two pieces holds: that of erased flash.
  static let fill: UInt8 = 0xFF

  /// A stretch of `data`, and where it belongs.
  private struct Piece {
    let address: UInt32
    let position: Int
    let count: Int
    /// The line, block or segment that gave it, for messages.
    let origin: Int
  }

  private let spanLimit: Int
  private var data: [UInt8] = []
  private var pieces: [Piece] = []
  private var lowest = UInt32.max
  private var highest = UInt32.min

  init(spanLimit: Int) { self.spanLimit = spanLimit }

  var isEmpty: Bool { pieces.isEmpty }

  /// Adds octets that must end before the address space does.
  mutating func append(
    _ octets: ArraySlice<UInt8>, at address: UInt32, origin: Int
  ) throws(Fault) {
    guard !octets.isEmpty else { return }
    lowest = min(lowest, address)
    highest = max(highest, address + UInt32(octets.count - 1))
    guard Int(highest) - Int(lowest) < spanLimit else {
      throw .spanTooLarge(lowest: lowest, highest: highest, limit: spanLimit)
    }
    pieces.append(
      Piece(address: address, position: data.count, count: octets.count, origin: origin))
    data += octets
  }

  /// The bytes from the lowest to the highest address; there must be some.
  func image(start: AddressLayout.Start?) throws(Fault) -> ([UInt8], AddressLayout) {
    precondition(!pieces.isEmpty, "memory without data has no lowest address")
    let ordered = pieces.sorted { ($0.address, $0.origin) < ($1.address, $1.origin) }
    for (piece, next) in zip(ordered, ordered.dropFirst())
    where Int(piece.address) + piece.count > Int(next.address) {
      throw .overlap(
        address: next.address, first: min(piece.origin, next.origin),
        second: max(piece.origin, next.origin))
    }
    var bytes = [UInt8](repeating: Self.fill, count: Int(highest) - Int(lowest) + 1)
    for piece in ordered {
      let place = Int(piece.address) - Int(lowest)
      bytes.replaceSubrange(
        place..<(place + piece.count), with: data[piece.position..<(piece.position + piece.count)])
    }
    return (bytes, AddressLayout(lowestAddress: lowest, start: start, dataCount: data.count))
  }
}
