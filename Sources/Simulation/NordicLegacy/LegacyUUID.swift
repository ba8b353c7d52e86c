import OtaflashATT

/// The UUIDs of Nordic's legacy DFU.
enum LegacyUUID {
  static let service: BluetoothUUID = "00001530-1212-efde-1523-785feabcd123"
  static let controlPoint: BluetoothUUID = "00001531-1212-efde-1523-785feabcd123"
  static let packet: BluetoothUUID = "00001532-1212-efde-1523-785feabcd123"
  static let version: BluetoothUUID = "00001534-1212-efde-1523-785feabcd123"
}
