import Foundation

/// A UUID of 16, 32 or 128 bits (CBUUID).
open class CBUUID: NSObject {
  /// The 2, 4 or 16 bytes, most significant first.
  public let data: Data

  /// - Parameter data: the bytes, most significant first; a length other than 2, 4 or 16 traps.
  public init(data: Data) {
    precondition([2, 4, 16].contains(data.count), "a UUID has 2, 4 or 16 bytes")
    self.data = data
  }

  /// - Parameter string: 4, 8 or 36 characters; anything else traps.
  public convenience init(string: String) {
    let digits = string.filter { $0 != "-" }
    let bytes = stride(from: 0, to: digits.count, by: 2).compactMap { start -> UInt8? in
      UInt8(digits.dropFirst(start).prefix(2), radix: 16)
    }
    self.init(data: Data(bytes))
  }

  /// 4 or 8 characters if the UUID has 2 or 4 bytes, otherwise 36 characters, in upper case.
  open var uuidString: String {
    let digits = data.map { byte in
      let text = String(byte, radix: 16, uppercase: true)
      return text.count == 1 ? "0" + text : text
    }
    guard data.count == 16 else { return digits.joined() }
    let groups = [digits[0..<4], digits[4..<6], digits[6..<8], digits[8..<10], digits[10...]]
    return groups.map { $0.joined() }.joined(separator: "-")
  }

  open override func isEqual(_ object: Any?) -> Bool { (object as? CBUUID)?.data == data }

  open override var hash: Int { data.hashValue }
}

/// An attribute with a type (CBAttribute).
open class CBAttribute: NSObject {
  public let uuid: CBUUID

  init(uuid: CBUUID) { self.uuid = uuid }
}

/// A service of a peripheral (CBService).
open class CBService: CBAttribute {
  public private(set) weak var peripheral: CBPeripheral?
  public let isPrimary: Bool
  public package(set) var characteristics: [CBCharacteristic]?

  package init(uuid: CBUUID, isPrimary: Bool, peripheral: CBPeripheral) {
    self.isPrimary = isPrimary
    self.peripheral = peripheral
    super.init(uuid: uuid)
  }
}

/// The properties of a characteristic (CBCharacteristicProperties).
public struct CBCharacteristicProperties: OptionSet, Sendable {
  public let rawValue: UInt
  public init(rawValue: UInt) { self.rawValue = rawValue }

  public static let broadcast = CBCharacteristicProperties(rawValue: 0x01)
  public static let read = CBCharacteristicProperties(rawValue: 0x02)
  public static let writeWithoutResponse = CBCharacteristicProperties(rawValue: 0x04)
  public static let write = CBCharacteristicProperties(rawValue: 0x08)
  public static let notify = CBCharacteristicProperties(rawValue: 0x10)
  public static let indicate = CBCharacteristicProperties(rawValue: 0x20)
  public static let authenticatedSignedWrites = CBCharacteristicProperties(rawValue: 0x40)
  public static let extendedProperties = CBCharacteristicProperties(rawValue: 0x80)
}

/// The kind of a write (CBCharacteristicWriteType).
public enum CBCharacteristicWriteType: Int, Sendable {
  case withResponse = 0
  case withoutResponse
}

/// A characteristic of a service (CBCharacteristic).
open class CBCharacteristic: CBAttribute {
  public private(set) weak var service: CBService?
  public let properties: CBCharacteristicProperties
  public package(set) var value: Data?
  public package(set) var isNotifying = false

  package init(uuid: CBUUID, properties: CBCharacteristicProperties, service: CBService) {
    self.properties = properties
    self.service = service
    super.init(uuid: uuid)
  }
}
