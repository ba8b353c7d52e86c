import OtaflashATT

/// The UUIDs of Silicon Labs' OTA service.
enum SilabsUUID {
  static let service: BluetoothUUID = "1d14d6ee-fd63-4fa1-bfa4-8f47b42119f0"
  /// The service of a loader that was built with another UUID.
  static let otherService: BluetoothUUID = "5a3c7e10-9b42-4d7f-8e51-0c6fa1d2b394"
  static let control: BluetoothUUID = "f7bf3564-fb6d-4e53-88a4-5e37e0326063"
  static let data: BluetoothUUID = "984227f3-34fc-4045-a5d0-2c581f81a153"
  static let bootloaderVersion: BluetoothUUID = "25f05c0a-e917-46e9-b2a5-aa2be1245afe"
  static let loaderVersion: BluetoothUUID = "4f4a2368-8cca-451e-bfff-cf0e2ee23e9f"
  static let protocolVersion: BluetoothUUID = "4cc07bcf-0868-4b32-9dad-ba4cc41e5316"
  static let applicationVersion: BluetoothUUID = "0d77cc11-4ac1-49f2-bfa9-cd96ac7a92f8"
}

/// The ATT errors of the loader, and of an application that receives the image itself.
extension ATTErrorCode {
  /// The loader rejected CRC32 or signature; an application requires a bond.
  static let silabsRejected = ATTErrorCode(0x80)
  /// The transfer was not started, or the storage is not ready.
  static let silabsNotReady = ATTErrorCode(0x81)
  /// The storage of an application is full.
  static let silabsNoRoom = ATTErrorCode(0x82)
  /// The loader: the image is outside of the application's area. An application: the flash failed.
  static let silabsTooLarge = ATTErrorCode(0x83)
  static let silabsWriteFailed = ATTErrorCode(0x83)
  /// The loader cannot interpret the file.
  static let silabsParseError = ATTErrorCode(0x84)
  /// The flash of a loader failed.
  static let silabsFlashFailed = ATTErrorCode(0x85)
  /// The loader is not ready yet.
  static let silabsTooEarly = ATTErrorCode(0x87)
}
