import OtaflashATT

/// The UUIDs of Nordic's Secure DFU and of the buttonless services.
enum SecureUUID {
  static let service = BluetoothUUID(0xFE59)
  static let controlPoint: BluetoothUUID = "8ec90001-f315-4f60-9fb8-838830daea50"
  static let packet: BluetoothUUID = "8ec90002-f315-4f60-9fb8-838830daea50"
  static let buttonless: BluetoothUUID = "8ec90003-f315-4f60-9fb8-838830daea50"
  static let bondedButtonless: BluetoothUUID = "8ec90004-f315-4f60-9fb8-838830daea50"
  /// Service and characteristic of SDK 12's experimental buttonless DFU.
  static let experimental: BluetoothUUID = "8e400001-f315-4f60-9fb8-838830daea50"
}

extension DFUService {
  static let secureDFU = DFUService(
    uuid: SecureUUID.service, control: SecureUUID.controlPoint, packet: SecureUUID.packet)
}
