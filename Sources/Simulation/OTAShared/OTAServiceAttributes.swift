import OtaflashATT
import OtaflashGATT

/// The UUIDs of the OTA service (docs/ota-service.md, 1).
enum DeviceUUID {
  static let otaService: BluetoothUUID = "2f3e0001-21b4-4807-8bdc-74db56699529"
  static let otaControl: BluetoothUUID = "2f3e0002-21b4-4807-8bdc-74db56699529"
  static let otaData: BluetoothUUID = "2f3e0003-21b4-4807-8bdc-74db56699529"
  static let otaStatus: BluetoothUUID = "2f3e0004-21b4-4807-8bdc-74db56699529"
}

extension LocalService {
  /// The OTA service of a receiver (docs/ota-service.md, 1).
  static func ota(
    _ settings: BoardSettings, _ receiver: Shared<ReceiverMachine>,
    wake: @escaping @Sendable () -> Void
  ) -> LocalService {
    let control = AttributeValue.written { bytes, _ in
      let error = receiver.withLock { $0.controlWritten(bytes) }
      wake()
      return error == 0 ? nil : ATTErrorCode(error)
    }
    let data = AttributeValue.written { bytes, context in
      let error = receiver.withLock {
        $0.dataWritten(bytes, withResponse: !context.isCommand)
      }
      wake()
      return error == 0 ? nil : ATTErrorCode(error)
    }
    return LocalService(
      DeviceUUID.otaService,
      characteristics: [
        LocalCharacteristic(
          DeviceUUID.otaControl, properties: [.write, .indicate], value: control,
          security: settings.security.needed),
        LocalCharacteristic(
          DeviceUUID.otaData, properties: [.write, .writeWithoutResponse], value: data,
          security: settings.security.needed),
        LocalCharacteristic(
          DeviceUUID.otaStatus, properties: [.read, .notify],
          value: .computed { _ in .success(receiver.withLock { $0.status() }) },
          security: settings.security.needed),
      ])
  }
}
