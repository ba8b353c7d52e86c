/// Applies a patch of format 2 and returns the image or the fault.
struct MappedReader {
  private enum Content {
    case bytes(PatchDecompressor)
    case range(RangeDecoder)
  }

  private var content: Content
  private let base: [UInt8]
  private let imageSize: Int
  /// The offset of the part in the image.
  private let offset: Int
  private var map = AddressMap()
  private var place: Int
  private var image: [UInt8] = []

  /// `input` is positioned after the image's size.
  init(
    _ codec: UInt8, _ input: PatchInput, base: [UInt8], imageSize: Int, offset: Int
  ) throws(PatchFault) {
    switch codec {
    case 4: content = .bytes(try PatchDecompressor(codec, input))
    case 8: content = .range(try RangeDecoder(input))
    default: throw input.fault(.codec(codec))
    }
    (self.base, self.imageSize, self.offset) = (base, imageSize, offset)
    place = min(offset, base.count)
  }

  mutating func run(pageSize: Int) throws(PatchFault) -> PatchReader.Result {
    image.reserveCapacity(imageSize)
    try readMap()
    var pages: [Int] = []
    while image.count < imageSize {
      try seek()
      let difference = try size(.difference)
      guard difference <= base.count - place else {
        throw fault(.beyondBase(size: difference, left: base.count - place))
      }
      try appendDifference(difference, &pages, pageSize)
      let extra = try size(.extra)
      guard difference + extra > 0 else { throw fault(.nothingMade) }
      try appendExtra(extra, &pages, pageSize)
      place += extra
    }
    try finish()
    return PatchReader.Result(image: image, codec: codec, bytesAtPages: pages)
  }

  var codec: PatchCodec {
    guard case .bytes(let stream) = content, case .heatshrink(let parameters) = stream.codec else {
      return .range
    }
    return .mapped(parameters)
  }

  private mutating func readMap() throws(PatchFault) {
    let count = try number(.start)
    guard count.magnitude <= AddressMap.entryMaximum else { throw fault(.addressMap) }
    guard !count.isNegative else { throw fault(.negativeSize) }
    guard count.magnitude > 0 else { return }
    map.origin = value(try number(.origin))
    var entry = AddressMap.Entry(start: 0, shift: 0)
    for index in 0..<count.magnitude {
      let distance = try number(.start)
      guard !distance.isNegative else { throw fault(.negativeSize) }
      entry.shift &+= value(try number(.shift))
      let start = Int(entry.start) + 2 * distance.magnitude
      guard index == 0 || distance.magnitude > 0, start <= Int(UInt32.max) else {
        throw fault(.addressMap)
      }
      entry.start = UInt32(start)
      map.entries.append(entry)
    }
  }

  private func value(_ number: (magnitude: Int, isNegative: Bool)) -> UInt32 {
    let magnitude = UInt32(number.magnitude)
    return number.isNegative ? 0 &- magnitude : magnitude
  }

  private mutating func seek() throws(PatchFault) {
    let seek = try number(.seek)
    let target = place + (seek.isNegative ? -seek.magnitude : seek.magnitude)
    guard (0...base.count).contains(target) else { throw fault(.seekOutsideBase(target)) }
    place = target
  }

  private mutating func size(_ field: RangeModels.Field) throws(PatchFault) -> Int {
    let size = try number(field)
    guard !size.isNegative else { throw fault(.negativeSize) }
    let left = imageSize - image.count
    guard size.magnitude <= left else {
      throw fault(.beyondImage(size: size.magnitude, left: left))
    }
    return size.magnitude
  }

  private mutating func appendDifference(
    _ size: Int, _ pages: inout [Int], _ pageSize: Int
  ) throws(PatchFault) {
    let end = place + size
    while place < end {
      let unit = base.withUnsafeBufferPointer {
        PatchUnit(of: $0, at: place, to: offset + image.count, left: end - place, map: map)
      }
      switch content {
      case .bytes(var stream):
        for i in 0..<unit.size {
          image.append(unit.predicted(i) &+ (try stream.next()))
          count(stream.bytesRead, &pages, pageSize)
        }
        content = .bytes(stream)
      case .range(var decoder):
        let before = image.count
        try decoder.unit(unit) { image.append($0) }
        content = .range(decoder)
        count(decoder.bytesRead, &pages, pageSize, since: before)
      }
      place += unit.size
    }
  }

  private mutating func appendExtra(
    _ size: Int, _ pages: inout [Int], _ pageSize: Int
  ) throws(PatchFault) {
    for _ in 0..<size {
      switch content {
      case .bytes(var stream):
        image.append(try stream.next())
        content = .bytes(stream)
        count(stream.bytesRead, &pages, pageSize)
      case .range(var decoder):
        image.append(try decoder.extra(at: offset + image.count))
        content = .range(decoder)
        count(decoder.bytesRead, &pages, pageSize)
      }
    }
  }

  /// Adds `bytesRead` to `pages` for each page that ends within the bytes from `before` on; with
  /// `nil`, within the last byte.
  private func count(
    _ bytesRead: Int, _ pages: inout [Int], _ pageSize: Int, since before: Int? = nil
  ) {
    for size in (before ?? image.count - 1)..<image.count
    where (size + 1) % pageSize == 0 || size + 1 == imageSize {
      pages.append(bytesRead)
    }
  }

  private mutating func number(
    _ field: RangeModels.Field
  ) throws(PatchFault) -> (magnitude: Int, isNegative: Bool) {
    switch content {
    case .bytes(var stream):
      let number = try stream.number()
      content = .bytes(stream)
      // A negative zero is 0 in a signed field; in other fields the caller rejects it.
      return number
    case .range(var decoder):
      let number = try decoder.number(field)
      content = .range(decoder)
      return number
    }
  }

  private mutating func finish() throws(PatchFault) {
    switch content {
    case .bytes(let stream): try stream.finish()
    case .range(var decoder): try decoder.finish()
    }
  }

  private func fault(_ reason: PatchFault.Reason) -> PatchFault {
    switch content {
    case .bytes(let stream): stream.fault(reason)
    case .range(let decoder): decoder.fault(reason)
    }
  }
}
