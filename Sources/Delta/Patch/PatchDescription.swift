/// The properties of a patch of detools or of format 2, read without its base.
///
/// A patch has no magic. Therefore, the bytes are decompressed and the steps are checked up to the
/// last byte; other files rarely pass this check. For patches of format 2, and for codecs that
/// devices do not support, only the start is checked.
package struct PatchDescription: Equatable, Sendable {
  /// The types of detools; the raw values are their numbers.
  package enum Kind: UInt8, Sendable {
    case sequential = 0
    /// The new image overwrites the base in place.
    case inPlace = 1
    case hdiffpatch = 2
    /// Format 2 of this project.
    case mapped = 4

    package var name: String {
      switch self {
      case .sequential: "sequential"
      case .inPlace: "in-place"
      case .hdiffpatch: "hdiffpatch"
      case .mapped: "format 2"
      }
    }
  }

  package enum Compression: Equatable, Sendable {
    case known(PatchCodec)
    /// A codec that is not supported, by the name that detools uses.
    case foreign(String)
  }

  package let kind: Kind
  package let compression: Compression
  /// The size of the created image in bytes.
  package let imageSize: Int
  /// Whether decoding needs the rules of an instruction set. Not checked for unsupported codecs.
  package let hasDataFormat: Bool

  /// - Throws: the reason why the bytes are not a complete patch.
  package init(reading bytes: ArraySlice<UInt8>) throws(PatchFault) {
    var walk = try PatchWalk(bytes)
    self = try walk.run()
  }

  /// - Returns: `nil` if the bytes are not a complete patch of detools.
  package init?(of bytes: ArraySlice<UInt8>) {
    do throws(PatchFault) { try self.init(reading: bytes) } catch { return nil }
    guard kind != .mapped else { return nil }
  }

  fileprivate init(
    kind: Kind, compression: Compression, imageSize: Int, hasDataFormat: Bool = false
  ) {
    self.kind = kind
    self.compression = compression
    self.imageSize = imageSize
    self.hasDataFormat = hasDataFormat
  }
}

/// Reads a patch without creating the image.
private struct PatchWalk {
  /// The maximum size in bytes of an image and of decompressed data, because a few bytes can expand
  /// to very many.
  private static let limit = 1 << 26

  private var input: PatchInput
  private var left = Self.limit
  private let kind: PatchDescription.Kind
  private let codec: UInt8
  private let whole: ArraySlice<UInt8>
  private let rest: ArraySlice<UInt8>
  /// The segment size of an in-place patch.
  private let segmentSize: Int
  private let imageSize: Int
  private var hasDataFormat = false

  init(_ bytes: ArraySlice<UInt8>) throws(PatchFault) {
    whole = bytes
    input = PatchInput(bytes)
    let head = try input.next()
    guard head & 0x80 == 0 else { throw input.fault(.reservedBit) }
    guard let kind = PatchDescription.Kind(rawValue: head >> 4) else {
      throw input.fault(.type(head >> 4))
    }
    self.kind = kind
    codec = head & 0x0F
    switch kind {
    case .sequential, .hdiffpatch, .mapped:
      imageSize = try input.size(atMost: Self.limit)
      segmentSize = try kind != .hdiffpatch ? imageSize : input.size(atMost: Self.limit)
    case .inPlace:
      // The fields are memory size, segment size, shift size, base size and image size.
      _ = try input.size(atMost: PatchNumber.maximum)
      segmentSize = try input.size(atMost: PatchNumber.maximum)
      _ = try input.size(atMost: PatchNumber.maximum)
      _ = try input.size(atMost: PatchNumber.maximum)
      imageSize = try input.size(atMost: Self.limit)
    }
    guard imageSize > 0, segmentSize > 0 else { throw input.fault(.nothingMade) }
    rest = bytes.dropFirst(input.offset)
  }

  mutating func run() throws(PatchFault) -> PatchDescription {
    if let name = foreignCompression {
      return PatchDescription(kind: kind, compression: .foreign(name), imageSize: imageSize)
    }
    if kind == .mapped {
      // The units of a difference depend on the base, so only the start is checked.
      let codec = try PatchReader(PatchInput(whole), base: [], limit: imageSize).codec
      return PatchDescription(kind: kind, compression: .known(codec), imageSize: imageSize)
    }
    var stream = try PatchDecompressor(codec, input)
    switch kind {
    case .sequential, .inPlace:
      var made = 0
      while made < imageSize {
        let size = min(segmentSize, imageSize - made)
        try passSegment(of: size, &stream)
        made += size
      }
    // The stream has a separate format, and its size is stated.
    case .hdiffpatch: try pass(segmentSize, &stream)
    case .mapped: break
    }
    try stream.finish()
    return PatchDescription(
      kind: kind, compression: .known(stream.codec), imageSize: imageSize,
      hasDataFormat: hasDataFormat)
  }

  private mutating func passSegment(
    of size: Int, _ stream: inout PatchDecompressor
  ) throws(PatchFault) {
    // The number may be negative zero.
    let formatSize = try stream.number()
    if formatSize.magnitude > 0 {
      guard !formatSize.isNegative else { throw stream.fault(.negativeSize) }
      hasDataFormat = true
      _ = try stream.number()
      try pass(formatSize.magnitude, &stream)
    }
    var made = 0
    var empty = 0
    while made < size {
      let before = made
      for _ in 0..<2 {
        let bytes = try stream.size(atMost: size - made)
        try pass(bytes, &stream)
        made += bytes
      }
      _ = try stream.number()
      empty = before < made ? 0 : empty + 1
      guard empty <= PatchReader.emptyMaximum else { throw stream.fault(.nothingMade) }
    }
  }

  private mutating func pass(
    _ count: Int, _ stream: inout PatchDecompressor
  ) throws(PatchFault) {
    guard count <= left else { throw stream.fault(.imageSize(stated: count, limit: left)) }
    left -= count
    for _ in 0..<count { _ = try stream.next() }
  }

  /// The codec that devices do not support, recognized by the first bytes of the stream: LZMA's old
  /// format with detools' parameters and no size, bzip2, or the frames of Zstandard and LZ4.
  private var foreignCompression: String? {
    guard kind != .mapped else { return nil }
    switch codec {
    case 1:
      let size = rest.dropFirst(5).prefix(8)
      return rest.first == 0x5D && size.count == 8 && size.allSatisfy { $0 == 0xFF } ? "lzma" : nil
    case 3: return rest.starts(with: Array("BZh".utf8)) ? "bz2" : nil
    case 5: return rest.starts(with: [0x28, 0xB5, 0x2F, 0xFD]) ? "zstd" : nil
    case 6: return rest.starts(with: [0x04, 0x22, 0x4D, 0x18]) ? "lz4" : nil
    default: return nil
    }
  }
}

extension PatchBytes {
  fileprivate mutating func size(atMost limit: Int) throws(PatchFault) -> Int {
    let size = try number()
    guard !size.isNegative else { throw fault(.negativeSize) }
    guard size.magnitude <= limit else {
      throw fault(.imageSize(stated: size.magnitude, limit: limit))
    }
    return size.magnitude
  }
}
