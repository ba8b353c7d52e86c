import OtaflashATT
import OtaflashFleet
import OtaflashGATT
import OtaflashUpdate
import Synchronization

/// The campaign's conditions, checked once per attempt: on the first connection over which an image
/// would be sent.
package final class DeviceConditions: Sendable {
  private static let batteryService = BluetoothUUID(0x180F)
  private static let batteryLevel = BluetoothUUID(0x2A19)

  private enum State {
    case unchecked, met
    case refused(because: String)
  }

  private let requirements: DeviceRequirements
  private let state = Mutex(State.unchecked)

  package init(_ requirements: DeviceRequirements) { self.requirements = requirements }

  /// The reason why the device is skipped, as a clause; `nil` = the device is not skipped, or has
  /// not been checked yet.
  package var refusal: String? {
    state.withLock { if case .refused(let words) = $0 { words } else { nil } }
  }

  /// Reads the values of the conditions, and checks them.
  ///
  /// - Throws: `.cancelled` for a device that does not meet the conditions (`refusal` contains the
  ///   reason); faults of the link.
  package func check(
    _ device: DeviceReport, over client: GATTClient
  ) async throws(UpdateFault) {
    let isOpen = state.withLock { if case .unchecked = $0 { true } else { false } }
    // A bootloader reports neither version nor battery level, and a device in its bootloader after
    // an interrupted update needs the rest of the update.
    guard isOpen, !requirements.isEmpty, !device.isInBootloader else { return }
    var refusal = requirements.refusal(running: device.runningVersion)
    if refusal == nil, requirements.battery != nil {
      do throws(GATTFault) {
        refusal = requirements.refusal(batteryLevel: try await Self.level(over: client))
      } catch {
        throw .gatt(.prepare, error)
      }
    }
    guard let refusal else {
      state.withLock { $0 = .met }
      return
    }
    state.withLock { $0 = .refused(because: refusal) }
    throw .cancelled(resumable: device.otaService?.resumePoint != nil, acknowledged: 0)
  }

  /// Returns the battery level in percent (Battery Service 1.0, 3.1); `nil` if the device has no
  /// such value, does not permit reading it, or reports an invalid value.
  private static func level(over client: GATTClient) async throws(GATTFault) -> Int? {
    do throws(GATTFault) {
      let value = try await client.read(
        try await client.characteristic(batteryLevel, in: batteryService))
      guard value.count == 1, value[0] <= 100 else { return nil }
      return Int(value[0])
    } catch {
      switch error {
      case .notFound, .notPermitted, .refused, .insecure: return nil
      default: throw error
      }
    }
  }
}
