import OtaflashATT
import OtaflashGATT

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
        .ota(parts.settings, receiver, wake: parts.wake),
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
}
