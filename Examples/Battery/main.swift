// Two observers of one battery level: a display that shows every value immediately, and a logger
// that needs five seconds for each. The slow one cannot delay the fast one or the link; it receives
// the number of values that it missed.
//
// The device is simulated here, and time is virtual. With a real device (import OtaflashBlueZ) the
// last statement is
//   try await watchBattery(downTo: 80, from: LocalAdapter(), on: EventLoopClock())

import OtaflashGATT
import OtaflashSimulation

extension BluetoothUUID {
  static let battery = BluetoothUUID(0x180F)
  static let batteryLevel = BluetoothUUID(0x2A19)
}

/// Watches the level until it has fallen to `lowest` percent.
func watchBattery(
  downTo lowest: UInt8, from central: some Central, on clock: any LinkClock
) async throws {
  let devices = AdvertisementFilter(services: [.battery])
  let dialer = Dialer(to: devices, from: central, within: .seconds(10), on: clock)
  try await withPeripheral(dialer, clock: clock) { peripheral in
    print("now: \(percent(try await peripheral.read(.batteryLevel, in: .battery)))")
    let all = try await peripheral.subscribe(to: .batteryLevel, in: .battery)
    let newest = try await peripheral.subscribe(to: .batteryLevel, in: .battery, buffering: 2)

    async let display: Void = observe(all, as: "display", downTo: lowest) {}
    async let logger: Void = observe(newest, as: "logger", downTo: lowest) {
      await clock.pause(for: .seconds(5))
    }
    _ = try await (display, logger)
  }
}

func observe(
  _ levels: NotificationStream, as name: String, downTo lowest: UInt8,
  _ work: @Sendable () async -> Void
) async throws(GATTFault) {
  for try await level in levels {
    let missed = level.lostBefore > 0 ? " (\(level.lostBefore) missed)" : ""
    print("\(name): \(percent(level.value))\(missed)")
    await work()
    if level.value.first ?? 0 <= lowest { return }
  }
}

func percent(_ level: [UInt8]) -> String { level.first.map { "\($0)%" } ?? "unknown" }

try simulate(near: [simulatedDevice]) { central, clock in
  try await watchBattery(downTo: 80, from: central, on: clock)
}
