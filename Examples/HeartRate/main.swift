// Prints the measurements of a heart rate strap. The strap goes out of range once; the program
// reconnects and continues.
//
// The strap is simulated here, and time is virtual. With a real strap (import OtaflashBlueZ) the
// last statement is
//   try await printHeartRate(count: 8, from: LocalAdapter(), on: EventLoopClock())

import OtaflashGATT
import OtaflashSimulation

/// Prints `count` measurements, over as many connections as needed.
func printHeartRate(
  count: Int, from central: some Central, on clock: any LinkClock
) async throws {
  let straps = AdvertisementFilter(name: /^Strap/, services: [.heartRate], rssiMinimum: -80)
  let dialer = Dialer(to: straps, from: central, within: .seconds(10), on: clock)
  try await withPeripheral(dialer, clock: clock) { peripheral in
    let steps = peripheral.transitions()
    async let _ = printAll(steps)
    var left = count
    // After a loss, this body restarts on a new connection.
    try await peripheral.keepingConnected(.exponential(attempts: 5)) { client in
      let location = try await client.characteristic(.bodySensorLocation, in: .heartRate)
      print("worn on: \(BodySensorLocation(decoding: try await client.read(location)))")

      let measurement = try await client.characteristic(.heartRateMeasurement, in: .heartRate)
      for try await notification in try await client.subscribe(to: measurement) {
        print("\(try HeartRateMeasurement(decoding: notification.value))")
        left -= 1
        if left == 0 { return }
      }
    }
  }
}

/// Prints every step of the connection, with the reason if the link was lost.
func printAll(_ steps: TransitionStream) async {
  for await step in steps {
    let reason = if case .gatt(.linkLost(let loss)) = step.failure { " (\(loss))" } else { "" }
    print("\(step.from.rawValue) -> \(step.to.rawValue)\(reason)")
  }
}

try simulate(near: [simulatedStrap]) { central, clock in
  try await printHeartRate(count: 8, from: central, on: clock)
  print("8 measurements in \(clock.now.elapsed.components.seconds) s")
}
