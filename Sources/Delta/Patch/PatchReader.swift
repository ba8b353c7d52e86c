/// Applies a patch and returns the image or the fault. Needs only as much memory as the expected
/// image.
package struct PatchReader {
  /// The maximum number of consecutive triples without output: detools writes up to 13 in tests.
  static let emptyMaximum = 64

  private var content: Content
  private let base: [UInt8]
  private var place = 0
  private var image: [UInt8] = []
  private let imageSize: Int

  private enum Content {
    case sequential(PatchDecompressor)
    case mapped(MappedReader)
  }

  /// The result of applying a patch.
  package struct Result: Equatable, Sendable {
    package let image: [UInt8]
    package let codec: PatchCodec
    /// For each page of the image, the number of patch bytes up to the end of the page.
    package let bytesAtPages: [Int]
  }

  /// Applies a complete patch, whose image has 1…`limit` bytes.
  package static func apply(
    _ patch: ArraySlice<UInt8>, to base: [UInt8], limit: Int, pageSize: Int = 4096
  ) throws(PatchFault) -> Result {
    var reader = try PatchReader(PatchInput(patch), base: base, limit: limit)
    return try reader.run(pageSize: pageSize)
  }

  /// Reads the header and the size.
  ///
  /// - Parameter imageOffset: the offset of the part in the image.
  init(
    _ input: PatchInput, base: [UInt8], limit: Int, imageOffset: Int = 0
  ) throws(PatchFault) {
    var input = input
    let head = try input.next()
    guard head & 0x80 == 0 else { throw input.fault(.reservedBit) }
    guard [0, PatchCodec.mappedType].contains(head >> 4) else {
      throw input.fault(.type(head >> 4))
    }
    let size = try input.number()
    guard !size.isNegative else { throw input.fault(.negativeSize) }
    guard (1...max(1, limit)).contains(size.magnitude) else {
      throw input.fault(.imageSize(stated: size.magnitude, limit: limit))
    }
    content =
      if head >> 4 == 0 {
        .sequential(try PatchDecompressor(head & 0x0F, input))
      } else {
        .mapped(
          try MappedReader(
            head & 0x0F, input, base: base, imageSize: size.magnitude, offset: imageOffset))
      }
    self.base = base
    imageSize = size.magnitude
  }

  var codec: PatchCodec {
    switch content {
    case .sequential(let stream): stream.codec
    case .mapped(let reader): reader.codec
    }
  }

  /// The stated size of the image in bytes.
  var statedSize: Int { imageSize }

  mutating func run(pageSize: Int) throws(PatchFault) -> Result {
    switch content {
    case .mapped(var reader): return try reader.run(pageSize: pageSize)
    case .sequential(var stream): return try run(&stream, pageSize: pageSize)
    }
  }

  private mutating func run(
    _ stream: inout PatchDecompressor, pageSize: Int
  ) throws(PatchFault) -> Result {
    image.reserveCapacity(imageSize)
    guard try stream.number().magnitude == 0 else { throw stream.fault(.dataFormat) }
    var pages: [Int] = []
    var empty = 0
    while image.count < imageSize {
      let before = image.count
      try appendDifference(&stream, &pages, pageSize)
      try appendExtra(&stream, &pages, pageSize)
      try seek(&stream)
      empty = before < image.count ? 0 : empty + 1
      guard empty <= Self.emptyMaximum else { throw stream.fault(.nothingMade) }
    }
    try stream.finish()
    return Result(image: image, codec: stream.codec, bytesAtPages: pages)
  }

  private func size(_ stream: inout PatchDecompressor) throws(PatchFault) -> Int {
    let size = try stream.number()
    guard !size.isNegative else { throw stream.fault(.negativeSize) }
    let left = imageSize - image.count
    guard size.magnitude <= left else {
      throw stream.fault(.beyondImage(size: size.magnitude, left: left))
    }
    return size.magnitude
  }

  private mutating func appendDifference(
    _ stream: inout PatchDecompressor, _ pages: inout [Int], _ pageSize: Int
  ) throws(PatchFault) {
    let size = try size(&stream)
    guard size <= base.count - place else {
      throw stream.fault(.beyondBase(size: size, left: base.count - place))
    }
    for _ in 0..<size {
      append(try stream.next() &+ base[place], stream.bytesRead, &pages, pageSize)
      place += 1
    }
  }

  private mutating func appendExtra(
    _ stream: inout PatchDecompressor, _ pages: inout [Int], _ pageSize: Int
  ) throws(PatchFault) {
    for _ in 0..<(try size(&stream)) {
      append(try stream.next(), stream.bytesRead, &pages, pageSize)
    }
  }

  private mutating func append(
    _ byte: UInt8, _ bytesRead: Int, _ pages: inout [Int], _ pageSize: Int
  ) {
    image.append(byte)
    if image.count % pageSize == 0 || image.count == imageSize { pages.append(bytesRead) }
  }

  /// Moves the position in the base. The target of the last step's seek is not checked.
  private mutating func seek(_ stream: inout PatchDecompressor) throws(PatchFault) {
    let seek = try stream.number()
    let target = place + (seek.isNegative ? -seek.magnitude : seek.magnitude)
    guard image.count < imageSize else { return }
    guard (0...base.count).contains(target) else { throw stream.fault(.seekOutsideBase(target)) }
    place = target
  }
}
