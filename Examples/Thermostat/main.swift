// A custom service on both sides: the thermostat is in SimulatedThermostat.swift, the host in this
// file. The host sets a target, observes the measured temperature until it is reached, and then
// sets a target that the thermostat refuses.
//
// The thermostat is simulated here, and time is virtual. With a real thermostat (import
// OtaflashBlueZ) the last statement is
//   try await heat(
//     to: Temperature(hundredths: 21_50), from: LocalAdapter(), on: EventLoopClock())

import OtaflashGATT
import OtaflashSimulation

func heat(
  to target: Temperature, from central: some Central, on clock: any LinkClock
) async throws {
  let thermostats = AdvertisementFilter(services: [.thermostat])
  let dialer = Dialer(to: thermostats, from: central, within: .seconds(10), on: clock)
  try await withPeripheral(dialer, clock: clock) { peripheral in
    let old = try await peripheral.read(.targetTemperature, in: .thermostat)
    print("target: \(try Temperature(decoding: old)) -> \(target)")
    let measurements = try await peripheral.subscribe(to: .measuredTemperature, in: .thermostat)
    try await peripheral.write(target.encoded, to: .targetTemperature, in: .thermostat)

    for try await measurement in measurements {
      let temperature = try Temperature(decoding: measurement.value)
      print("measured: \(temperature)")
      if temperature == target { break }
    }
    try await setTarget(Temperature(hundredths: 95_00), of: peripheral)
  }
}

/// Writes a target and prints the device's response.
func setTarget(_ target: Temperature, of peripheral: Peripheral) async throws(PeripheralFault) {
  do throws(PeripheralFault) {
    try await peripheral.write(target.encoded, to: .targetTemperature, in: .thermostat)
    print("\(target) was accepted")
  } catch .gatt(.refused(_, let code)) {
    print("\(target) was refused: \(code)")
  }
}

try simulate(near: [simulatedThermostat]) { central, clock in
  try await heat(to: Temperature(hundredths: 21_50), from: central, on: clock)
}
