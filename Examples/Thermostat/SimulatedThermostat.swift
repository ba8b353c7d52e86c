import OtaflashGATT
import OtaflashSimulation
import Synchronization

/// The device's side. The table is in the order of its handles; the Client Characteristic
/// Configuration for the host's subscription is added because of `notify`.
func simulatedThermostat(on clock: any LinkClock) throws(RadioModelFault) -> SimulatedPeripheral {
  let room = Room()
  let table = AttributeTable(services: [
    LocalService(
      .thermostat,
      characteristics: [
        LocalCharacteristic(
          .targetTemperature, properties: [.read, .write],
          value: .dynamic(
            read: { _ in .success(room.target.encoded) },
            write: { bytes, _ in room.setTarget(bytes) })),
        LocalCharacteristic(
          .measuredTemperature, properties: [.read, .notify],
          value: .computed { _ in .success(room.measured.encoded) }),
      ])
  ])
  let measured = table.handle(of: .measuredTemperature)
  let advertisement = Advertisement(
    id: "sim:thermostat", name: "Thermostat", rssi: -58, services: [.thermostat])
  return try SimulatedPeripheral(
    advertising: advertisement, server: GATTServer(table: table), clock: clock
  ) { thermostat in
    while await clock.pause(for: .seconds(1)) {
      thermostat.server.notify(measured, room.heat().encoded)
    }
  }
}

/// A room whose temperature approaches its target by half a degree per second.
private final class Room: Sendable {
  private static let permitted: ClosedRange<Int16> = 5_00...30_00
  private static let stepHundredths: Int16 = 50

  private struct State {
    var target = Temperature(hundredths: 18_00)
    var measured = Temperature(hundredths: 19_30)
  }

  private let state = Mutex(State())

  var target: Temperature { state.withLock { $0.target } }
  var measured: Temperature { state.withLock { $0.measured } }

  /// Returns the error code with which the device refuses the host's write; `nil` if it accepts the
  /// bytes.
  func setTarget(_ bytes: [UInt8]) -> ATTErrorCode? {
    do throws(Temperature.Malformed) {
      let target = try Temperature(decoding: bytes)
      guard Self.permitted.contains(target.hundredths) else { return .outOfRange }
      state.withLock { $0.target = target }
      return nil
    } catch {
      return .invalidAttributeValueLength
    }
  }

  func heat() -> Temperature {
    state.withLock { state in
      let missing = state.target.hundredths - state.measured.hundredths
      let step = min(max(missing, -Self.stepHundredths), Self.stepHundredths)
      state.measured = Temperature(hundredths: state.measured.hundredths + step)
      return state.measured
    }
  }
}
