/// Pieces of data at addresses, which are combined to one image.
struct AddressedMemory {
  enum Fault: Error, Equatable {
    /// Two pieces contain the same address; `first` is the lower origin, `second` the higher
    /// origin.
    case overlap(address: UInt32, first: Int, second: Int)
    case addresses(AddressFault)
  }

  /// The selection of the data.
  struct Window {
    /// The maximum number of bytes from the lowest to the highest address.
    let spanLimit: Int
    /// The requested region; `nil` for all data except known regions.
    var region: AddressRegion?
  }

  /// The value of erased flash.
  static let erased: UInt8 = 0xFF
  /// The maximum size of a gap within one firmware image. Data on both sides of a larger gap does
  /// not belong to one image, because no chip with Bluetooth LE has so much code flash.
  private static let gapLimit: UInt64 = 4 << 20

  /// A range of `data` and its addresses.
  private struct Piece {
    let addresses: Range<UInt64>
    let position: Int
    /// The line, block or segment of the piece, for messages.
    let origin: Int
  }

  /// The value of bytes in gaps.
  private let fill: UInt8
  private var data: [UInt8] = []
  private var pieces: [Piece] = []

  init(fill: UInt8 = Self.erased) { self.fill = fill }

  var isEmpty: Bool { pieces.isEmpty }

  /// Adds bytes, which must not exceed the address space.
  mutating func append(_ bytes: ArraySlice<UInt8>, at address: UInt32, origin: Int) {
    guard !bytes.isEmpty else { return }
    let start = UInt64(address)
    pieces.append(
      Piece(
        addresses: start..<(start + UInt64(bytes.count)), position: data.count, origin: origin))
    data += bytes
  }

  /// Returns the bytes from the lowest to the highest selected address. Requires at least one
  /// piece.
  func image(
    start: AddressLayout.Start?, in window: Window
  ) throws(Fault) -> ([UInt8], AddressLayout) {
    precondition(!pieces.isEmpty, "memory without data has no lowest address")
    let ordered = try orderedPieces()
    var parts = Parts(ordered.map(\.addresses))
    do throws(AddressFault) {
      if let region = window.region {
        try parts.keep(region)
      } else {
        try parts.leaveOut(KnownRegion.all.filter { isWitnessed($0, among: ordered) })
        try parts.requireOnePlace(gapLimit: Self.gapLimit)
      }
      guard parts.span.count <= window.spanLimit else {
        throw .spanTooLarge(parts.span, limit: window.spanLimit)
      }
    } catch {
      throw .addresses(error)
    }
    return (
      bytes(of: ordered, in: parts),
      AddressLayout(
        lowestAddress: UInt32(truncatingIfNeeded: parts.span.range.lowerBound), start: start,
        dataCount: parts.dataCount, leftOut: parts.leftOut)
    )
  }

  private func orderedPieces() throws(Fault) -> [Piece] {
    let ordered = pieces.sorted {
      ($0.addresses.lowerBound, $0.origin) < ($1.addresses.lowerBound, $1.origin)
    }
    for (piece, next) in zip(ordered, ordered.dropFirst())
    where piece.addresses.upperBound > next.addresses.lowerBound {
      throw .overlap(
        address: UInt32(truncatingIfNeeded: next.addresses.lowerBound),
        first: min(piece.origin, next.origin), second: max(piece.origin, next.origin))
    }
    return ordered
  }

  private func bytes(of ordered: [Piece], in parts: Parts) -> [UInt8] {
    let span = parts.span.range
    var bytes = [UInt8](repeating: fill, count: span.count)
    var kept = parts.kept[...]
    for piece in ordered {
      while let first = kept.first, first.upperBound <= piece.addresses.lowerBound {
        kept = kept.dropFirst()
      }
      for part in kept {
        let common = piece.addresses.clamped(to: part)
        guard !common.isEmpty else { break }
        let from = piece.position + Int(common.lowerBound - piece.addresses.lowerBound)
        let to = Int(common.lowerBound - span.lowerBound)
        bytes.replaceSubrange(to..<(to + common.count), with: data[from..<(from + common.count)])
      }
    }
    return bytes
  }

  private func isWitnessed(_ known: KnownRegion, among ordered: [Piece]) -> Bool {
    known.witnesses.contains { witness in
      switch witness {
      case .data(let wanted, let other):
        ordered.contains { $0.addresses.overlaps(wanted) }
          && !ordered.contains { piece in other.map(piece.addresses.overlaps) ?? false }
      case .word(let word, let address): self.word(at: address, among: ordered) == word
      }
    }
  }

  private func word(at address: UInt64, among ordered: [Piece]) -> UInt32? {
    let wanted = address..<(address + 4)
    var bytes: [UInt8] = []
    for piece in ordered where piece.addresses.overlaps(wanted) {
      let common = piece.addresses.clamped(to: wanted)
      let from = piece.position + Int(common.lowerBound - piece.addresses.lowerBound)
      bytes += data[from..<(from + common.count)]
    }
    return bytes.littleEndian(at: 0)
  }
}

/// The addresses of a file's data: the addresses of the image, and the excluded addresses.
private struct Parts {
  /// The ranges of the data: sorted, not adjacent, never empty.
  private(set) var kept: [Range<UInt64>] = []
  private(set) var leftOut: [AddressLayout.LeftOut] = []

  /// - Parameter ordered: sorted, without overlaps.
  init(_ ordered: [Range<UInt64>]) {
    for range in ordered {
      if let last = kept.last, last.upperBound == range.lowerBound {
        kept[kept.count - 1] = last.lowerBound..<range.upperBound
      } else {
        kept.append(range)
      }
    }
  }

  /// The range from the lowest to the highest address of the image.
  var span: AddressRegion {
    AddressRegion(of: kept[0].lowerBound..<kept[kept.count - 1].upperBound)
  }

  var dataCount: Int { kept.map(\.count).reduce(0, +) }

  mutating func keep(_ region: AddressRegion) throws(AddressFault) {
    let inside = kept.map { $0.clamped(to: region.range) }.filter { !$0.isEmpty }
    guard !inside.isEmpty else {
      throw .nothingIn(region, places(gapLimit: 0))
    }
    leave(out: 0..<region.range.lowerBound, as: nil)
    leave(out: region.range.upperBound..<AddressRegion.end, as: nil)
  }

  mutating func leaveOut(_ regions: [KnownRegion]) throws(AddressFault) {
    let all = places(gapLimit: 0)
    for known in regions { leave(out: known.region.range, as: known) }
    guard !kept.isEmpty else { throw .nothingElse(all) }
  }

  func requireOnePlace(gapLimit: UInt64) throws(AddressFault) {
    let places = places(gapLimit: gapLimit)
    guard places.count == 1 else { throw .farApart(places) }
  }

  private mutating func leave(out region: Range<UInt64>, as known: KnownRegion?) {
    var rest: [Range<UInt64>] = []
    for range in kept {
      let common = range.clamped(to: region)
      guard !common.isEmpty else {
        rest.append(range)
        continue
      }
      add(common, as: known)
      let below = range.lowerBound..<common.lowerBound
      let above = common.upperBound..<range.upperBound
      rest += [below, above].filter { !$0.isEmpty }
    }
    kept = rest
    leftOut.sort { $0.region.range.lowerBound < $1.region.range.lowerBound }
  }

  /// Adds an excluded range; consecutive ranges of one known region are merged.
  private mutating func add(_ range: Range<UInt64>, as known: KnownRegion?) {
    guard let known, let last = leftOut.last, last.known == known else {
      leftOut.append(
        AddressLayout.LeftOut(
          region: AddressRegion(of: range), dataCount: range.count, known: known))
      return
    }
    leftOut[leftOut.count - 1] = AddressLayout.LeftOut(
      region: AddressRegion(of: last.region.range.lowerBound..<range.upperBound),
      dataCount: last.dataCount + range.count, known: known)
  }

  /// Returns the ranges of the image, merged over gaps up to the limit.
  private func places(gapLimit: UInt64) -> [AddressFault.Place] {
    var places: [AddressFault.Place] = []
    for range in kept {
      guard let last = places.last, range.lowerBound - last.region.range.upperBound <= gapLimit
      else {
        places.append(
          AddressFault.Place(region: AddressRegion(of: range), dataCount: range.count))
        continue
      }
      places[places.count - 1] = AddressFault.Place(
        region: AddressRegion(of: last.region.range.lowerBound..<range.upperBound),
        dataCount: last.dataCount + range.count)
    }
    return places
  }
}
