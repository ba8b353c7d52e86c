import ArgumentParser
import OtaflashConsole
import OtaflashDevices
import OtaflashUpdate

/// Measures the round trip to a device with SMP.
struct Echo: TargetedCommand {
  static let takesSimulatedAir = true
  static let configuration = CommandConfiguration(
    commandName: "echo",
    abstract: "Send a text to a device with SMP, which returns it, and measure the round trip.")

  @Argument(help: "The text to send.")
  var text: String

  @Option(
    name: .shortAndLong,
    help: ArgumentHelp("The number of round trips, 1 to 1000.", valueName: "number"))
  var count: WholeNumber = 5

  @OptionGroup var target: DeviceOption
  @OptionGroup var capture: CaptureOption
  @OptionGroup var global: GlobalOptions

  var subject: Subject { Subject(device: target.device.text) }
  var captureFile: OutputFile? { capture.file }

  private static let counts = 1...1000

  func validate() throws {
    guard Self.counts.contains(count.value) else {
      throw ValidationError("--count \(count.value) is out of range; specify 1 to 1000")
    }
  }

  func perform(in session: Session) async throws(CommandFault) -> Ending {
    let echo = SMPEcho(text, count: count.value)
    let found = try await target.device.exchange(in: session, isExclusive: false) {
      (dialer, clock) async throws(UpdateFault) in try await echo.run(on: dialer, clock: clock)
    }
    let sorted = found.roundTrips.sorted()
    let (least, median, most) = (sorted[0], sorted[sorted.count / 2], sorted[sorted.count - 1])
    func milliseconds(_ time: Duration) -> JSONValue {
      .number(Double(time.inMilliseconds))
    }
    session.console.event(
      "round_trips",
      [
        "count": .integer(sorted.count), "lost": .integer(found.lost),
        "min_ms": milliseconds(least), "median_ms": milliseconds(median),
        "max_ms": milliseconds(most),
      ])
    session.console.result(text)
    session.console.result(
      "\(Text.counted(sorted.count, "round trip")), \(found.lost) lost: "
        + [("min", least), ("median", median), ("max", most)].map {
          "\($0.0) \(Text.decimal(Double($0.1.inMilliseconds))) ms"
        }.joined(separator: ", "))
    return target.device.ending("echoed")
  }
}
