import OtaflashATT
import OtaflashGATT

/// The role of a device in legacy DFU, from its services.
enum LegacyDFURole: Sendable {
  case none
  /// It can restart into its bootloader.
  case application(LegacyDFUEntry)
  /// It receives an image. `nil` if it does not report its version: SDK 6 and earlier.
  case receiver(LegacyDFUVersion?)

  /// Services of bootloaders and applications: Generic Access, Generic Attribute, Device
  /// Information.
  private static let boundToBoth = [
    BluetoothUUID(0x1800), BluetoothUUID(0x1801), BluetoothUUID(0x180A), LegacyDFU.service,
  ]

  static func find(on client: GATTClient) async throws(GATTFault) -> LegacyDFURole {
    let services = try await client.services().map(\.uuid)
    guard services.contains(LegacyDFU.service) else { return .none }
    let version = try await version(of: client)
    // Without a version, its other services identify an application.
    let isReceiver =
      version.map { $0 != .application } ?? services.allSatisfy(boundToBoth.contains)
    if isReceiver { return .receiver(version) }
    return .application(
      LegacyDFUEntry(
        client: client,
        controlPoint: try await client.characteristic(
          LegacyDFU.controlPoint, in: LegacyDFU.service)))
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
