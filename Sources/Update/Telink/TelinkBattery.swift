import OtaflashATT
import OtaflashGATT

/// The warning about a weak battery: a chip that loses power while it writes its flash may not
/// start again.
enum TelinkBattery {
  private static let service = BluetoothUUID(0x180F)
  private static let level = BluetoothUUID(0x2A19)
  /// The level in percent below which the warning is reported.
  static let threshold: UInt8 = 30

  /// Returns the warning as one complete sentence; `nil` if the level is high enough or unknown.
  static func caution(on client: GATTClient) async throws(GATTFault) -> String? {
    let value: [UInt8]
    do throws(GATTFault) {
      value = try await client.read(try await client.characteristic(level, in: service))
    } catch {
      switch error {
      case .notFound, .notPermitted, .refused: return nil
      default: throw error
      }
    }
    guard let percent = value.first, percent < threshold else { return nil }
    return "The battery level is \(percent) %: a device that loses power during the update may not "
      + "start again."
  }
}
