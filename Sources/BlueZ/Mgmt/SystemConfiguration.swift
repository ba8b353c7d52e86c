import OtaflashWire

/// The kernel's default parameters for links without specific parameters (BlueZ doc/mgmt-api.txt,
/// Read Default System Configuration).
package struct SystemConfiguration: Equatable, Sendable {
  /// The limits of the connection interval in units of 1.25 ms.
  package let intervalMinimum: UInt16
  package let intervalMaximum: UInt16
  package let latency: UInt16
  /// The supervision timeout in units of 10 ms.
  package let supervisionTimeout: UInt16
  /// The scan interval of discoveries in units of 0.625 ms; `nil` in kernels before 5.11.
  package let discoveryInterval: UInt16?
  package let discoveryWindow: UInt16?

  /// Reads type, length and value of each entry. Returns `nil` if one of the four link parameters
  /// is missing or the list is truncated.
  init?(decoding bytes: [UInt8]) {
    var values: [UInt16: UInt16] = [:]
    var fields = MgmtFields(bytes[...])
    do throws(MgmtDecodeFault) {
      while !fields.rest.isEmpty {
        let type = try fields.uint16()
        let length = try fields.uint8()
        var value = MgmtFields(try fields.bytes(Int(length)))
        if length == 2 { values[type] = try value.uint16() }
      }
    } catch {
      return nil
    }
    guard let minimum = values[0x0017], let maximum = values[0x0018],
      let latency = values[0x0019], let supervision = values[0x001A]
    else { return nil }
    intervalMinimum = minimum
    intervalMaximum = maximum
    self.latency = latency
    supervisionTimeout = supervision
    discoveryInterval = values[SystemParameter.discoveryInterval]
    discoveryWindow = values[SystemParameter.discoveryWindow]
  }

  func parameters(for device: BluetoothAddress) -> MgmtConnectionParameters? {
    MgmtConnectionParameters(
      device: device, intervalMinimum: intervalMinimum, intervalMaximum: intervalMaximum,
      latency: latency, supervisionTimeout: supervisionTimeout)
  }
}

/// One 16-bit value of the adapter's defaults (BlueZ doc/mgmt-api.txt, Set Default System
/// Configuration).
package struct SystemParameter: Equatable, Sendable {
  static let discoveryInterval: UInt16 = 0x0011
  static let discoveryWindow: UInt16 = 0x0012

  package let type: UInt16
  package let value: UInt16

  var bytes: [UInt8] { type.bytes + [2] + value.bytes }
}
