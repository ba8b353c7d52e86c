/// The content of a patch of format 2 (docs/delta.md, section 4): the address map, and triples
/// whose differences apply to predicted bytes.
struct MappedContent {
  private let map: AddressMap
  private let steps: [MappedStep]
  private let base: PatchBase
  private let image: ArraySlice<UInt8>

  /// - Parameter image: a part of the image; its start index is its offset in the image.
  init(_ steps: [PatchStep], from base: PatchBase, to image: ArraySlice<UInt8>) {
    (self.base, self.image) = (base, image)
    let steps = Self.steps(steps)
    self.steps = steps
    map = Self.map(steps, base, image)
  }

  /// Converts the triples of format 1. Triples that create no bytes are left out.
  private static func steps(_ steps: [PatchStep]) -> [MappedStep] {
    var from = 0
    return steps.compactMap { step in
      defer { from += step.difference + step.seek }
      guard step.difference + step.extra > 0 else { return nil }
      return MappedStep(from: from, difference: step.difference, extra: step.extra)
    }
  }

  /// The cheapest map of all possible origins.
  private static func map(
    _ steps: [MappedStep], _ base: PatchBase, _ image: ArraySlice<UInt8>
  ) -> AddressMap {
    let maps = base.bytes.withUnsafeBufferPointer { bytes in
      image.withUnsafeBufferPointer { part in
        base.origins.map { origin in
          AddressVotes(steps, from: bytes, to: part, offset: image.startIndex, origin: origin)
            .best()
        }
      }
    }
    return maps.min { $0.cost < $1.cost }?.map ?? AddressMap()
  }

  /// The content without compression.
  func bytes() -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(image.count + 8 * steps.count)
    write(
      number: { number, _ in PatchNumber.append(number, to: &bytes) },
      unit: { unit, image, index in
        for i in 0..<unit.size { bytes.append(image[index + i] &- unit.predicted(i)) }
      }, extra: { byte, _ in bytes.append(byte) })
    return bytes
  }

  /// The content in the range coder's encoding.
  func rangeCoded() -> [UInt8] {
    var encoder = RangeEncoder()
    write(
      number: { encoder.append($0, $1) }, unit: { encoder.append($0, $1, at: $2) },
      extra: { encoder.append($0, at: $1) })
    return encoder.finish()
  }

  private func write(
    number: (Int, RangeModels.Field) -> Void,
    unit: (PatchUnit, UnsafeBufferPointer<UInt8>, Int) -> Void, extra: (UInt8, Int) -> Void
  ) {
    number(map.entries.count, .start)
    if !map.entries.isEmpty { number(Int(Int32(bitPattern: map.origin)), .origin) }
    for (distance, change) in map.steps {
      number(distance, .start)
      number(change, .shift)
    }
    let offset = image.startIndex
    base.bytes.withUnsafeBufferPointer { base in
      image.withUnsafeBufferPointer { image in
        var expected = min(offset, base.count)
        var at = 0
        for step in steps {
          number(step.from - expected, .seek)
          number(step.difference, .difference)
          var done = 0
          while done < step.difference {
            let next = PatchUnit(
              of: base, at: step.from + done, to: offset + at, left: step.difference - done,
              map: map)
            unit(next, image, at)
            done += next.size
            at += next.size
          }
          number(step.extra, .extra)
          for i in at..<at + step.extra { extra(image[i], offset + i) }
          at += step.extra
          expected = step.from + step.difference + step.extra
        }
      }
    }
  }
}
