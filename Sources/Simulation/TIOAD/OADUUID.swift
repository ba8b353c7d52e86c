import OtaflashATT

/// The UUIDs of TI's OAD service.
enum OADUUID {
  static let service: BluetoothUUID = "f000ffc0-0451-4000-b000-000000000000"
  static let identify: BluetoothUUID = "f000ffc1-0451-4000-b000-000000000000"
  static let block: BluetoothUUID = "f000ffc2-0451-4000-b000-000000000000"
  static let control: BluetoothUUID = "f000ffc5-0451-4000-b000-000000000000"
}
