import OtaflashATT

/// The UUIDs of Telink's OTA service.
enum TelinkUUID {
  static let service: BluetoothUUID = "00010203-0405-0607-0809-0a0b0c0d1912"
  static let data: BluetoothUUID = "00010203-0405-0607-0809-0a0b0c0d2b12"
  /// The same UUIDs, from firmware that declares their bytes in the opposite order.
  static let reversedService: BluetoothUUID = "12190d0c-0b0a-0908-0706-050403020100"
  static let reversedData: BluetoothUUID = "122b0d0c-0b0a-0908-0706-050403020100"
}
