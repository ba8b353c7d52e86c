import OtaflashWire

/// What a patch is made against, by which a device and a host know that they mean the same bytes.
package struct OTABase: Hashable, Sendable {
  /// An image that is compressed, and made out of nothing.
  package static let empty = OTABase(size: 0, crc32: 0)

  /// In bytes; 0 = there is none.
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

  /// The payload of `OTARefusal.otherBase`: what the device can make images out of.
  package init(decoding payload: [UInt8]) throws(OTADecodeFault) {
    var reader = ByteReader(payload, of: "PATCH")
    try self.init(from: &reader)
  }
}

/// What PATCH announces: the stream that the next BEGIN with `OTABegin.Flags.patch` is about
/// (docs/ota-service.md, 13).
package struct OTAPatch: Hashable, Sendable {
  package let base: OTABase
  /// In bytes, with the headers of its parts; 1 ..< 2^31.
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

/// PATCH INFO's answer: what the device's decoder can, and what it can make images out of.
package struct OTAPatchInfo: Equatable, Sendable {
  /// Whether it takes streams of detools patches in parts (docs/delta.md, 2), the one format there
  /// is.
  package let takesParts: Bool
  /// One bit for each of detools' codecs: bit 0 none, bit 2 CRLE, bit 4 heatshrink.
  package let codecs: UInt16
  /// The largest window and lookahead of heatshrink, as powers of two; 0 without heatshrink.
  package let windowBits: Int
  package let lookaheadBits: Int
  /// Parts begin at multiples of so many bytes of the image.
  package let pageSize: Int
  /// What runs, as RUNNING tells it; `.empty` when the device cannot read it.
  package let base: OTABase

  package init(decoding payload: [UInt8]) throws(OTADecodeFault) {
    var reader = ByteReader(payload, of: "PATCH INFO")
    takesParts = try reader.uint8() & 2 != 0
    codecs = try reader.uint16()
    windowBits = Int(try reader.uint8())
    lookaheadBits = Int(try reader.uint8())
    pageSize = Int(try reader.uint32())
    base = try OTABase(from: &reader)
  }
}

/// PATCH POINT's answer; all zero when the device holds nothing of a patch session.
package struct OTAPatchPoint: Equatable, Sendable {
  package let streamSize: Int
  package let streamCRC32: UInt32
  /// Bytes of the stream that it holds: the next one wanted.
  package let nextOffset: Int
  /// Bytes of the image in the parts that are complete and in flash.
  package let imageOffset: Int

  package init(decoding payload: [UInt8]) throws(OTADecodeFault) {
    var reader = ByteReader(payload, of: "PATCH POINT")
    streamSize = Int(try reader.uint32())
    streamCRC32 = try reader.uint32()
    nextOffset = Int(try reader.uint32())
    imageOffset = Int(try reader.uint32())
  }
}
