import OtaflashATT

/// The UUIDs of Espressif's OTA service.
enum EspressifUUID {
  static let service = BluetoothUUID(0x8018)
  static let firmware = BluetoothUUID(0x8020)
  static let progress = BluetoothUUID(0x8021)
  static let command = BluetoothUUID(0x8022)
  static let customer = BluetoothUUID(0x8023)
}
