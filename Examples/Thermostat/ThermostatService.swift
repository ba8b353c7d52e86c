import OtaflashATT

/// The service that both sides agree on.
extension BluetoothUUID {
  static let thermostat: BluetoothUUID = "7b1c0001-52a8-4d3f-9c1e-0f2d6a4e8b90"
  /// Read and written with response: 5…30 °C.
  static let targetTemperature: BluetoothUUID = "7b1c0002-52a8-4d3f-9c1e-0f2d6a4e8b90"
  /// Notified once a second.
  static let measuredTemperature: BluetoothUUID = "7b1c0003-52a8-4d3f-9c1e-0f2d6a4e8b90"
}

/// Hundredths of a degree Celsius in 16 bits with a sign, little-endian (as characteristic 0x2A6E).
struct Temperature: Equatable, Sendable, CustomStringConvertible {
  let hundredths: Int16

  init(hundredths: Int16) { self.hundredths = hundredths }

  /// Bytes that are no temperature; closures of a peripheral's operations throw it as it is.
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
