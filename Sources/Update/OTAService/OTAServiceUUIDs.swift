import OtaflashATT

/// The attributes of the otaflash OTA service (docs/ota-service.md, 1).
public enum OTAService {
  public static let service: BluetoothUUID = "2f3e0001-21b4-4807-8bdc-74db56699529"
  public static let control: BluetoothUUID = "2f3e0002-21b4-4807-8bdc-74db56699529"
  public static let data: BluetoothUUID = "2f3e0003-21b4-4807-8bdc-74db56699529"
  public static let status: BluetoothUUID = "2f3e0004-21b4-4807-8bdc-74db56699529"

  /// The highest protocol version this host speaks.
  public static let protocolVersion: UInt8 = 1
  /// Octets of a data write before the image octets: the offset.
  public static let dataHeaderSize = 4
  /// The longest that a device may take to erase a page (docs/ota-service.md, 10).
  public static let eraseLimit = Duration.seconds(20)
  /// Octets that a device reads back from its flash at least in a second (10).
  public static let readBackPerSecond = 16_384

  /// Application error codes of the service (docs/ota-service.md, 3 and 4).
  public static let busy = ATTErrorCode(0x80)
  public static let wrongOffset = ATTErrorCode(0x81)
  public static let noSession = ATTErrorCode(0x82)
  public static let notAuthorized = ATTErrorCode(0x83)
}
