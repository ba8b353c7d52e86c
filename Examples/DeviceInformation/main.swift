// Prints the manufacturer information of a device. Six reads wait in the device's command queue at
// the same time and run one after the other. Each has its own time limit and retries.
//
// The device is simulated here, and time is virtual. With a real device (import OtaflashBlueZ) the
// last statement is
//   try await printDeviceInformation(from: LocalAdapter(), on: EventLoopClock())

import OtaflashGATT
import OtaflashSimulation

func printDeviceInformation(from central: some Central, on clock: any LinkClock) async throws {
  let devices = AdvertisementFilter(services: [.deviceInformation])
  let dialer = Dialer(to: devices, from: central, within: .seconds(10), on: clock)
  try await withPeripheral(dialer, clock: clock) { peripheral in
    try await withThrowingTaskGroup(of: Void.self) { group in
      for field in InformationField.allCases {
        group.addTask { try await printField(field, of: peripheral) }
      }
      try await group.waitForAll()
    }
  }
}

func printField(_ field: InformationField, of peripheral: Peripheral) async throws {
  let command = readCommand(for: field, on: peripheral.clock)
  do throws(QueueFault<PeripheralFault>) {
    print("\(field): \(try await peripheral.perform(command))")
  } catch .failed(.gatt(.notFound)) {
    print("\(field): not on this device")
  }
}

/// A read with a time limit of 5 seconds, and retries while the device has insufficient resources.
func readCommand(
  for field: InformationField, on clock: any LinkClock
) -> Command<PeripheralTurn, String, PeripheralFault> {
  Command(onConnection: "read \(field)") { (client) async throws(GATTFault) -> String in
    let characteristic = try await client.characteristic(field.uuid, in: .deviceInformation)
    return String(decoding: try await client.read(characteristic), as: UTF8.self)
  }
  .retrying(.linear(attempts: 3), on: clock) { fault in
    guard case .gatt(.refused(let attribute, .insufficientResources)) = fault else { return false }
    print("\(field): the device has no memory for \(attribute) now")
    return true
  }
  .timeLimit(.seconds(5), orThrow: .gatt(.timedOut(after: .seconds(5))))
}

try simulate(near: [simulatedDevice]) { central, clock in
  try await printDeviceInformation(from: central, on: clock)
}
