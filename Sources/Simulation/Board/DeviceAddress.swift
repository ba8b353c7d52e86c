import OtaflashGATT

/// The Bluetooth device address (Core 5.4, Vol 6, Part B, 1.3) of a simulated device.
public struct DeviceAddress: Hashable, Sendable {
  /// The 48 bits of the address; the text starts with the most significant byte.
  public let rawValue: UInt64

  /// - Parameter rawValue: the address; only the lowest 48 bits are used.
  public init(rawValue: UInt64) { self.rawValue = rawValue & 0xFFFF_FFFF_FFFF }

  /// The address with its last byte incremented, modulo 256. Nordic's bootloaders without bonds
  /// advertise under this address, so that it differs from the address of their application.
  public var successor: DeviceAddress { moved(by: 1) }

  /// Returns the address with `offset` added to its last byte, modulo 256.
  public func moved(by offset: Int8) -> DeviceAddress {
    let last = UInt8(truncatingIfNeeded: rawValue) &+ UInt8(bitPattern: offset)
    return DeviceAddress(rawValue: rawValue & ~0xFF | UInt64(last))
  }

  /// Returns the address at `place`, relative to this address; `nil` for a location that is known
  /// only by a name.
  func at(_ place: DeviceLocation) -> DeviceAddress? {
    place.lastByte(from: UInt8(truncatingIfNeeded: rawValue)).map {
      DeviceAddress(rawValue: rawValue & ~0xFF | UInt64($0))
    }
  }
}

extension DeviceAddress: LosslessStringConvertible {
  /// Parses `C0:FF:EE:00:00:01`, in upper or lower case; returns `nil` for other strings.
  public init?(_ text: String) {
    let bytes = text.split(separator: ":", omittingEmptySubsequences: false)
    guard bytes.count == 6,
      bytes.allSatisfy({ $0.utf8.count == 2 && Quantity.hex(String($0)) != nil })
    else { return nil }
    self.init(rawValue: UInt64(bytes.joined(), radix: 16) ?? 0)
  }

  public var description: String {
    (0..<6).reversed().map { index in
      let byte = String(UInt8(truncatingIfNeeded: rawValue >> (8 * UInt64(index))), radix: 16)
      return (byte.utf8.count == 1 ? "0" : "") + byte.uppercased()
    }.joined(separator: ":")
  }
}

extension BoardSettings {
  /// The address of the device's application, which contains the lowest 16 bits of the seed: a
  /// static random address, whose two most significant bits are set (1.3.2.1).
  public var address: DeviceAddress {
    DeviceAddress(rawValue: 0xC0FF_EE00_0000 | (seed & 0xFFFF) << 8)
  }

  /// Returns the random address after this number of restarts, from 1.
  func address(afterRestart number: Int) -> DeviceAddress {
    var random = SeededRandom(seed: seed).forked(for: 1000 + UInt64(number))
    return DeviceAddress(rawValue: 0xC000_0000_0000 | random.next() & 0x3FFF_FFFF_FFFF)
  }
}

extension Advertisement {
  /// Returns the same advertisement under an address that the device has drawn.
  func advertised(under address: DeviceAddress) -> Advertisement {
    Advertisement(
      id: address.description, name: name, rssi: rssi, services: services,
      manufacturerData: manufacturerData, serviceData: serviceData, txPower: txPower,
      appearance: appearance, isConnectable: isConnectable, flags: flags)
  }
}
