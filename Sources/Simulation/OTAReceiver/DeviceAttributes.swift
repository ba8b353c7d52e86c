import OtaflashATT
import OtaflashGATT

/// The UUIDs of the OTA service (docs/ota-service.md, 1).
enum DeviceUUID {
  static let otaService: BluetoothUUID = "2f3e0001-21b4-4807-8bdc-74db56699529"
  static let otaControl: BluetoothUUID = "2f3e0002-21b4-4807-8bdc-74db56699529"
  static let otaData: BluetoothUUID = "2f3e0003-21b4-4807-8bdc-74db56699529"
  static let otaStatus: BluetoothUUID = "2f3e0004-21b4-4807-8bdc-74db56699529"
}

/// The attributes of a board, and the handles that its firmware uses.
struct DeviceAttributes: Sendable {
  let table: AttributeTable
  let control: AttributeHandle
  let data: AttributeHandle
  let status: AttributeHandle

  init(
    _ parts: BoardParts, running: SlotImage, receiver: Shared<ReceiverMachine>,
    _ console: BoardConsole?
  ) {
    table = AttributeTable(
      services: [
        LocalService.genericAccess(name: parts.applicationName),
        Self.deviceInformation(parts.settings, running),
        Self.otaService(parts.settings, receiver, wake: parts.wake),
      ] + LocalService.battery(of: parts.settings)
        + (console?.services(wake: parts.wake) ?? []))
    control = table.handle(of: DeviceUUID.otaControl)
    data = table.handle(of: DeviceUUID.otaData)
    status = table.handle(of: DeviceUUID.otaStatus)
  }

  /// Returns Device Information Service 1.1.
  private static func deviceInformation(
    _ settings: BoardSettings, _ running: SlotImage
  ) -> LocalService {
    .deviceInformation([
      0x2A29: "otaflash", 0x2A24: "simulated board",
      0x2A25: "SIM-\(String(settings.seed, radix: 16, uppercase: true))",
      0x2A27: settings.hardware.description, 0x2A26: running.version.description,
      0x2A28: "OTA service 1",
    ])
  }

  static func otaService(
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
