import OtaflashATT
import OtaflashGATT

/// The role of a device in legacy DFU, from its services.
enum LegacyDFURole: Sendable {
  case none
  /// An application that can restart into its bootloader.
  case application(LegacyDFUEntry)
  /// A device that receives an image, and the version of its service; `nil` if the device reports
  /// no version, as with SDK 6 and earlier.
  case receiver(LegacyDFUVersion?)

  /// The services that both bootloaders and applications have: Generic Access, Generic Attribute,
  /// Device Information and legacy DFU.
  private static let boundToBoth = [
    BluetoothUUID(0x1800), BluetoothUUID(0x1801), BluetoothUUID(0x180A), LegacyDFU.service,
  ]

  static func find(on client: GATTClient) async throws(GATTFault) -> LegacyDFURole {
    let services = try await client.services().map(\.uuid)
    guard services.contains(LegacyDFU.service) else {
      guard services.contains(MicrobitDFU.service) else { return .none }
      let control = try await client.characteristic(
        MicrobitDFU.control, in: MicrobitDFU.service)
      return .application(LegacyDFUEntry(client: client, way: .microbit(control)))
    }
    let version = try await version(of: client)
    // If the device reports no version, an application is identified by its other services.
    let isReceiver =
      version.map { $0 != .application } ?? services.allSatisfy(boundToBoth.contains)
    if isReceiver { return .receiver(version) }
    let controlPoint = try await client.characteristic(
      LegacyDFU.controlPoint, in: LegacyDFU.service)
    return .application(LegacyDFUEntry(client: client, way: .controlPoint(controlPoint)))
  }

  private static func version(
    of client: GATTClient
  ) async throws(GATTFault) -> LegacyDFUVersion? {
    let bytes: [UInt8]
    do throws(GATTFault) {
      let version = try await client.characteristic(LegacyDFU.version, in: LegacyDFU.service)
      bytes = try await client.read(version)
    } catch .notFound {
      return nil
    }
    do throws(DFUDecodeFault) { return try LegacyDFUVersion(decoding: bytes) } catch {
      throw .violation(error.description)
    }
  }
}
