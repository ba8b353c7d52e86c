import OtaflashGATT

/// A Bluetooth LE device address with its type (Core 5.4, Vol 6, Part B, 1.3).
public struct BluetoothAddress: Hashable, Sendable {
  /// The address type for connection requests. If the type is wrong, the device is never found.
  public enum Kind: UInt8, Hashable, Sendable {
    /// Public: assigned by the manufacturer from the range that IEEE assigned to it.
    case publicDevice = 1
    /// Random: static or private.
    case random = 2
  }

  /// The six bytes in the order used on the air and by the kernel, least significant first.
  public let littleEndian: [UInt8]
  /// Whether the address is public or random.
  public let kind: Kind

  /// Creates an address; returns `nil` unless `bytes` has six bytes.
  public init?(littleEndian bytes: some Collection<UInt8>, kind: Kind) {
    guard bytes.count == 6 else { return nil }
    littleEndian = Array(bytes)
    self.kind = kind
  }

  /// Returns the address at `place`, relative to this address; `nil` for a location that is known
  /// only by a name.
  public func at(_ place: DeviceLocation) -> BluetoothAddress? {
    var bytes = littleEndian
    guard let last = place.lastByte(from: bytes[0]) else { return nil }
    bytes[0] = last
    return BluetoothAddress(checked: bytes, kind: kind)
  }

  init(checked bytes: [UInt8], kind: Kind) {
    littleEndian = bytes
    self.kind = kind
  }
}

extension BluetoothAddress: LosslessStringConvertible {
  /// Parses `C0:FF:EE:00:00:01`, with an optional suffix `/public` or `/random`; returns `nil` for
  /// any other text. Without a suffix the two top bits determine the type: 11 is a static random
  /// address (1.3.2.1), other values are public.
  public init?(_ text: String) {
    let parts = text.split(separator: "/", omittingEmptySubsequences: false)
    let groups = parts[0].split(separator: ":", omittingEmptySubsequences: false)
    let bytes = groups.compactMap { group -> UInt8? in
      guard group.count == 2, group.allSatisfy(\.isHexDigit) else { return nil }
      return UInt8(group, radix: 16)
    }
    guard parts.count <= 2, groups.count == 6, bytes.count == 6 else { return nil }
    switch parts.dropFirst().first {
    case "public": kind = .publicDevice
    case "random": kind = .random
    case nil: kind = bytes[0] >> 6 == 0b11 ? .random : .publicDevice
    default: return nil
    }
    littleEndian = bytes.reversed()
  }

  /// The colon form in upper case. The type is included only if parsing the text without the type
  /// would return the other type.
  public var description: String {
    let digits = littleEndian.reversed().map { byte in
      (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
    }
    let plain = digits.joined(separator: ":")
    let guess: Kind = littleEndian[5] >> 6 == 0b11 ? .random : .publicDevice
    guard kind != guess else { return plain }
    return plain + (kind == .random ? "/random" : "/public")
  }
}
