import OtaflashATT
import OtaflashGATT

/// The structures of an advertisement (Core Specification Supplement, Part A). Because the sender
/// is not trusted, malformed structures are skipped and all other structures are read.
package struct AdvertisingData: Equatable, Sendable {
  /// The complete local name, or the shortened name if there is no complete name.
  package private(set) var name: String?
  package private(set) var services: [BluetoothUUID] = []
  /// The flags byte (1.3); bit 1 means general discoverable, bit 2 no BR/EDR.
  package private(set) var flags: UInt8?
  /// The manufacturer data (1.4), in the order of the structures.
  package private(set) var manufacturerData: [ManufacturerData] = []
  package private(set) var serviceData: [ServiceData] = []
  /// The transmit power in dBm (1.5).
  package private(set) var txPower: Int8?
  /// The appearance, an assigned number (1.12).
  package private(set) var appearance: UInt16?

  package init() {}

  /// Reads structures of length, type and data until the end, a zero length or a truncated
  /// structure.
  package init(decoding bytes: some Sequence<UInt8>) {
    var rest = Array(bytes)[...]
    while let length = rest.popFirst(), length > 0, rest.count >= Int(length) {
      let structure = rest.prefix(Int(length))
      rest = rest.dropFirst(Int(length))
      if let type = structure.first { read(type, structure.dropFirst()) }
    }
  }

  private mutating func read(_ type: UInt8, _ data: ArraySlice<UInt8>) {
    switch type {
    case 0x01: flags = data.first
    case 0x02, 0x03: readServices(data, width: 2)
    case 0x04, 0x05: readServices(data, width: 4)
    case 0x06, 0x07: readServices(data, width: 16)
    case 0x08: name = name ?? Self.text(data)
    case 0x09: name = Self.text(data)
    case 0x0A: txPower = data.first.map { Int8(bitPattern: $0) }
    case 0x16: readServiceData(data, width: 2)
    case 0x19 where data.count == 2: appearance = Self.number(data)
    case 0x20: readServiceData(data, width: 4)
    case 0x21: readServiceData(data, width: 16)
    case 0xFF where data.count >= 2:
      let company = Self.number(data.prefix(2))
      manufacturerData.append(ManufacturerData(company: company, data: Array(data.dropFirst(2))))
    default: break
    }
  }

  private mutating func readServices(_ data: ArraySlice<UInt8>, width: Int) {
    var rest = data
    while rest.count >= width {
      if let uuid = Self.uuid(rest.prefix(width)), !services.contains(uuid) {
        services.append(uuid)
      }
      rest = rest.dropFirst(width)
    }
  }

  private mutating func readServiceData(_ data: ArraySlice<UInt8>, width: Int) {
    guard let uuid = Self.uuid(data.prefix(width)) else { return }
    serviceData.append(ServiceData(service: uuid, data: Array(data.dropFirst(width))))
  }

  /// Decodes a UUID of 2, 4 or 16 bytes; returns `nil` for other lengths. Advertisements may
  /// contain 32-bit UUIDs, which attributes never have.
  private static func uuid(_ bytes: ArraySlice<UInt8>) -> BluetoothUUID? {
    guard bytes.count == 4 else { return BluetoothUUID(littleEndian: bytes) }
    return BluetoothUUID(bits32: bytes.reversed().reduce(0) { $0 << 8 | UInt32($1) })
  }

  private static func number(_ bytes: ArraySlice<UInt8>) -> UInt16 {
    bytes.reversed().reduce(0) { $0 << 8 | UInt16($1) }
  }

  /// Decodes a name. Names are UTF-8 by the specification; invalid sequences are shown as U+FFFD.
  /// Some devices pad the name with zero bytes.
  private static func text(_ data: ArraySlice<UInt8>) -> String {
    String(decoding: data.prefix { $0 != 0 }, as: UTF8.self)
  }
}
