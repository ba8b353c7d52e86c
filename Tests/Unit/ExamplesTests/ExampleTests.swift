import Testing

/// Tests that run every example program and compare its output.
@Suite struct ExampleTests {
  @Test func heartRateReconnectsAndContinues() throws {
    let run = try Program(name: "HeartRate").run()
    #expect(run.status == 0)
    let connection = [
      "idle -> scanning", "scanning -> discovered", "discovered -> connecting",
      "connecting -> connected", "connected -> discovering-services",
      "discovering-services -> services-ready", "worn on: chest", "services-ready -> subscribing",
      "subscribing -> ready",
    ]
    let beats = [64, 67, 70, 76, 79, 82, 85, 88].map { "\($0) beats a minute" }
    // The measurement of 73 was being sent when the strap went out of range.
    let expected: [String] = [
      connection, Array(beats[..<3]),
      ["ready -> idle (no packet was received from the device (supervision timeout))"], connection,
      Array(beats[3...]), ["8 measurements in 15 s"],
    ].flatMap(\.self)
    #expect(run.lines == expected)
  }

  @Test func deviceInformationReadsOneFieldAfterTheOtherAndRepeatsOne() throws {
    let run = try Program(name: "DeviceInformation").run()
    #expect(run.status == 0)
    #expect(
      run.lines == [
        "model number: Door sensor, long range, outdoor use",
        "serial number: the device has no memory for 2A25 (handle 0x000B) now",
        "serial number: D7-000193",
        "firmware revision: 1.2.0",
        "hardware revision: rev C",
        "software revision: not on this device",
        "manufacturer: Example Works",
      ])
  }

  @Test func batteryShowsThatASlowObserverDelaysNoOtherObserver() throws {
    let run = try Program(name: "Battery").run()
    #expect(run.status == 0)
    #expect(run.lines.first == "now: 100%")
    #expect(
      run.lines.filter { $0.hasPrefix("display") }
        == (80...99).reversed().map { "display: \($0)%" })
    // The logger keeps the two newest levels, and every level is either shown or counted as missed.
    #expect(
      run.lines.filter { $0.hasPrefix("logger") } == [
        "logger: 99%", "logger: 95% (3 missed)", "logger: 91% (3 missed)",
        "logger: 86% (4 missed)", "logger: 80% (5 missed)",
      ])
  }

  @Test func thermostatReachesItsTargetAndRefusesAnInvalidTarget() throws {
    let run = try Program(name: "Thermostat").run()
    #expect(run.status == 0)
    #expect(
      run.lines == [
        "target: 18.0 °C -> 21.5 °C", "measured: 19.8 °C", "measured: 20.3 °C",
        "measured: 20.8 °C", "measured: 21.3 °C", "measured: 21.5 °C",
        "95.0 °C was refused: the value is out of range (0xFF)",
      ])
  }

  @Test func nearbyListsTheStrongestFirstAndReadsTheNearestSensor() throws {
    let run = try Program(name: "Nearby").run()
    #expect(run.status == 0)
    #expect(
      run.lines == [
        "Lamp -40 dBm", "Sensor 2 -55 dBm", "Sensor 1 -80 dBm", "1: 1.2.0", "2: 1.2.0", "3: 1.2.0",
      ])
  }

  @Test func fleetFlashUpdatesEightBoardsInOneProcess() throws {
    let run = try Program(name: "FleetFlash").run()
    #expect(run.status == 0)
    // The boards finish in any order.
    #expect(run.lines.sorted() == (1...8).map { "board \($0): 1.2.0 -> 1.3.0, verified" })
  }
}
