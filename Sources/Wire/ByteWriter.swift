/// Writes little-endian fields.
package struct ByteWriter {
  package private(set) var bytes: [UInt8] = []

  package init() {}

  package mutating func uint8(_ value: UInt8) { bytes.append(value) }

  package mutating func uint16(_ value: UInt16) {
    bytes.append(UInt8(truncatingIfNeeded: value))
    bytes.append(UInt8(value >> 8))
  }

  package mutating func uint32(_ value: UInt32) {
    uint16(UInt16(truncatingIfNeeded: value))
    uint16(UInt16(value >> 16))
  }

  package mutating func bytes(_ value: some Sequence<UInt8>) { bytes += value }
}
