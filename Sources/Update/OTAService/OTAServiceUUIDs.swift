import OtaflashATT

/// The attributes of the otaflash OTA service (docs/ota-service.md, 1).
package enum OTAService {
  package static let service: BluetoothUUID = "2f3e0001-21b4-4807-8bdc-74db56699529"
  package static let control: BluetoothUUID = "2f3e0002-21b4-4807-8bdc-74db56699529"
  package static let data: BluetoothUUID = "2f3e0003-21b4-4807-8bdc-74db56699529"
  package static let status: BluetoothUUID = "2f3e0004-21b4-4807-8bdc-74db56699529"

  /// The highest protocol version that the host supports.
  package static let protocolVersion: UInt8 = 1
  /// The size in bytes of the offset that precedes the image bytes in a data write.
  static let dataHeaderSize = 4
  /// The longest time in which a device erases a page (docs/ota-service.md, 10).
  static let eraseLimit = Duration.seconds(20)
  /// The minimum rate at which a device reads back its flash, in bytes per second (10).
  static let readBackPerSecond = 16_384

  /// Application error codes of the service (docs/ota-service.md, 3 and 4).
  package static let busy = ATTErrorCode(0x80)
  package static let wrongOffset = ATTErrorCode(0x81)
  package static let noSession = ATTErrorCode(0x82)
  package static let notAuthorized = ATTErrorCode(0x83)
}
