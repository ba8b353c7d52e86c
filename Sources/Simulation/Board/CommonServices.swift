import OtaflashATT
import OtaflashGATT

/// Services that the applications and bootloaders of boards share.
extension LocalService {
  private static let deviceName = BluetoothUUID(0x2A00)
  private static let appearance = BluetoothUUID(0x2A01)
  private static let serviceChanged = BluetoothUUID(0x2A05)
  private static let deviceInformation = BluetoothUUID(0x180A)
  private static let batteryService = BluetoothUUID(0x180F)
  private static let batteryLevel = BluetoothUUID(0x2A19)

  /// Returns the Generic Access service (Core 5.4, Vol 3, Part C, 12).
  static func genericAccess(name: String) -> LocalService {
    LocalService(
      .genericAccess,
      characteristics: [
        .readOnly(deviceName, Array(name.utf8)),
        .readOnly(appearance, [0x00, 0x00]),
      ])
  }

  /// Returns the Generic Attribute service (Core 5.4, Vol 3, Part G, 7): a device whose attributes
  /// change after a reset offers Service Changed.
  static func genericAttribute() -> LocalService {
    LocalService(
      .genericAttribute,
      characteristics: [
        LocalCharacteristic(serviceChanged, properties: .indicate, value: .fixed([]))
      ])
  }

  /// Returns Battery Service 1.0, if the board has a battery.
  static func battery(of settings: BoardSettings) -> [LocalService] {
    guard let level = settings.batteryLevel else { return [] }
    return [
      LocalService(
        batteryService, characteristics: [.readOnly(batteryLevel, [UInt8(clamping: level)])])
    ]
  }

  /// Returns Device Information Service 1.1 with these characteristics.
  ///
  /// - Parameter texts: the UUIDs and the values of the characteristics.
  static func deviceInformation(_ texts: KeyValuePairs<UInt16, String>) -> LocalService {
    LocalService(
      deviceInformation,
      characteristics: texts.map { .readOnly(BluetoothUUID($0.key), Array($0.value.utf8)) })
  }
}

extension LocalCharacteristic {
  static func readOnly(_ uuid: BluetoothUUID, _ bytes: [UInt8]) -> LocalCharacteristic {
    LocalCharacteristic(uuid, properties: .read, value: .fixed(bytes))
  }
}
