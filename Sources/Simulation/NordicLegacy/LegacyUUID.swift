import OtaflashATT

/// The UUIDs of Nordic's legacy DFU.
enum LegacyUUID {
  static let service: BluetoothUUID = "00001530-1212-efde-1523-785feabcd123"
  static let controlPoint: BluetoothUUID = "00001531-1212-efde-1523-785feabcd123"
  static let packet: BluetoothUUID = "00001532-1212-efde-1523-785feabcd123"
  static let version: BluetoothUUID = "00001534-1212-efde-1523-785feabcd123"
}

extension DFUService {
  /// Version 0.8: SDK 11, with an init packet.
  private static let legacyVersion: [UInt8] = [0x08, 0x00]

  static func legacyDFU(of variant: LegacyBootloaderSettings.Variant) -> DFUService {
    DFUService(
      uuid: LegacyUUID.service, control: LegacyUUID.controlPoint, packet: LegacyUUID.packet,
      packetProperties: variant == .adafruit
        ? [.write, .writeWithoutResponse] : .writeWithoutResponse,
      others: [.readOnly(LegacyUUID.version, legacyVersion)])
  }
}
