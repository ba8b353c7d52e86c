import OtaflashWire

/// The identity of a patch's base, which device and host compare.
package struct OTABase: Hashable, Sendable {
  /// The base value of a compressed image, which needs no base.
  package static let empty = OTABase(size: 0, crc32: 0)

  /// The size of the base in bytes; 0 = no base.
  package let size: Int
  package let crc32: UInt32

  package init(size: Int, crc32: UInt32) {
    self.size = size
    self.crc32 = crc32
  }

  fileprivate init(from reader: inout ByteReader<OTADecodeFault>) throws(OTADecodeFault) {
    size = Int(try reader.uint32())
    crc32 = try reader.uint32()
  }

  /// Decodes the payload of `OTARefusal.otherBase`: the base that the device has.
  package init(decoding payload: [UInt8]) throws(OTADecodeFault) {
    var reader = ByteReader(payload, of: "PATCH")
    try self.init(from: &reader)
  }
}

/// The announcement in PATCH: the stream of the next BEGIN with `OTABegin.Flags.patch`
/// (docs/ota-service.md, 13).
package struct OTAPatch: Hashable, Sendable {
  package let base: OTABase
  /// The size of the stream in bytes, including the headers of its parts; 1 ..< 2^31.
  package let streamSize: Int
  package let streamCRC32: UInt32

  package init(base: OTABase, streamSize: Int, streamCRC32: UInt32) {
    self.base = base
    self.streamSize = streamSize
    self.streamCRC32 = streamCRC32
  }

  func encode(to writer: inout ByteWriter) {
    writer.uint32(UInt32(base.size))
    writer.uint32(base.crc32)
    writer.uint32(UInt32(streamSize))
    writer.uint32(streamCRC32)
  }
}

/// The answer to PATCH INFO: the capabilities of the device's decoder, and its base.
package struct OTAPatchInfo: Equatable, Sendable {
  /// Whether the device supports streams of detools patches in parts (docs/delta.md, 2): format 1.
  package let takesParts: Bool
  /// Whether parts may contain patches with an address map (docs/delta.md, 4): format 2.
  package let takesMap: Bool
  /// One bit for each of detools' codecs: bit 0 none, bit 2 CRLE, bit 4 heatshrink. Bit 8 is the
  /// range coder of format 2.
  package let codecs: UInt16
  /// The binary logarithms of the largest window and lookahead of heatshrink; 0 without heatshrink.
  package let windowBits: Int
  package let lookaheadBits: Int
  /// Parts start at multiples of this number of image bytes.
  package let pageSize: Int
  /// The running image, as in RUNNING; `.empty` if the device cannot read it, or if it is damaged.
  package let base: OTABase
  /// The rate of the decoder in image bytes per second, without the time of the flash; `nil` =
  /// unknown.
  package let decodingRate: Int?

  private static let rateUnit = 4096

  package init(decoding payload: [UInt8]) throws(OTADecodeFault) {
    var reader = ByteReader(payload, of: "PATCH INFO")
    let formats = try reader.uint8()
    takesParts = formats & 2 != 0
    takesMap = formats & 4 != 0
    codecs = try reader.uint16()
    windowBits = Int(try reader.uint8())
    lookaheadBits = Int(try reader.uint8())
    pageSize = Int(try reader.uint32())
    base = try OTABase(from: &reader)
    let units = Int(try reader.uint8())
    decodingRate = units > 0 ? units * Self.rateUnit : nil
  }
}

/// The answer to PATCH POINT; all values are zero if the device holds no unfinished patch session.
package struct OTAPatchPoint: Equatable, Sendable {
  package let streamSize: Int
  package let streamCRC32: UInt32
  /// The number of stream bytes that the device holds, which is the offset of the next byte.
  package let nextOffset: Int
  /// The number of image bytes in the complete parts in flash.
  package let imageOffset: Int

  package init(decoding payload: [UInt8]) throws(OTADecodeFault) {
    var reader = ByteReader(payload, of: "PATCH POINT")
    streamSize = Int(try reader.uint32())
    streamCRC32 = try reader.uint32()
    nextOffset = Int(try reader.uint32())
    imageOffset = Int(try reader.uint32())
  }
}
