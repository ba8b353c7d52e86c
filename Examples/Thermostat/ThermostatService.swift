import OtaflashGATT

/// The UUIDs of the service, which host and device share.
extension BluetoothUUID {
  static let thermostat: BluetoothUUID = "7b1c0001-52a8-4d3f-9c1e-0f2d6a4e8b90"
  /// Read and written with response: 5…30 °C.
  static let targetTemperature: BluetoothUUID = "7b1c0002-52a8-4d3f-9c1e-0f2d6a4e8b90"
  /// Notified once per second.
  static let measuredTemperature: BluetoothUUID = "7b1c0003-52a8-4d3f-9c1e-0f2d6a4e8b90"
}

/// Hundredths of a degree Celsius as a signed 16-bit integer, little-endian (as characteristic
/// 0x2A6E).
struct Temperature: Equatable, Sendable, CustomStringConvertible {
  let hundredths: Int16

  init(hundredths: Int16) { self.hundredths = hundredths }

  /// Bytes that are not a temperature; closures of a peripheral's operations rethrow this error
  /// unchanged.
  struct Malformed: Error, Equatable {
    let bytes: [UInt8]
  }

  init(decoding bytes: [UInt8]) throws(Malformed) {
    guard bytes.count == 2 else { throw Malformed(bytes: bytes) }
    hundredths = Int16(bitPattern: UInt16(bytes[0]) | UInt16(bytes[1]) << 8)
  }

  var encoded: [UInt8] {
    let bits = UInt16(bitPattern: hundredths)
    return [UInt8(truncatingIfNeeded: bits), UInt8(bits >> 8)]
  }

  var description: String { "\(Double(hundredths) / 100) °C" }
}
