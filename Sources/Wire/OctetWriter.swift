/// Writes little-endian fields.
package struct OctetWriter {
  package private(set) var octets: [UInt8] = []

  package init() {}

  package mutating func uint8(_ value: UInt8) { octets.append(value) }

  package mutating func uint16(_ value: UInt16) {
    octets.append(UInt8(truncatingIfNeeded: value))
    octets.append(UInt8(value >> 8))
  }

  package mutating func uint32(_ value: UInt32) {
    uint16(UInt16(truncatingIfNeeded: value))
    uint16(UInt16(value >> 16))
  }

  package mutating func octets(_ value: some Sequence<UInt8>) { octets += value }
}
