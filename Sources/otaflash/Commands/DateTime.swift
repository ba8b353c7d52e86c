import ArgumentParser
import OtaflashConsole
import OtaflashDevices
import OtaflashUpdate

/// The clock of a device with SMP.
struct DateTime: GroupCommand {
  static let configuration = CommandConfiguration(
    commandName: "datetime",
    abstract: "Read and set the clock of a device with SMP.",
    discussion: """
      The firmware must be built with CONFIG_RTC and CONFIG_MCUMGR_GRP_OS_DATETIME. SMP knows no \
      time zones; these commands use UTC.
      """,
    subcommands: [DateTimeGet.self, DateTimeSet.self])

  @OptionGroup var global: GlobalOptions
}

struct DateTimeGet: TargetedCommand {
  static let words = "datetime get"
  static let takesSimulatedAir = true
  static let configuration = CommandConfiguration(
    commandName: "get",
    abstract: "Show the clock of the device, and its difference to the clock of this host.")

  @OptionGroup var target: DeviceOption
  @OptionGroup var capture: CaptureOption
  @OptionGroup var global: GlobalOptions

  var subject: Subject { Subject(device: target.device.text) }
  var captureFile: OutputFile? { capture.file }

  func perform(in session: Session) async throws(CommandFault) -> Ending {
    try await SMPClock().show(on: target.device, isExclusive: false, "read", in: session)
  }
}

struct DateTimeSet: TargetedCommand {
  static let words = "datetime set"
  static let takesSimulatedAir = true
  static let configuration = CommandConfiguration(
    commandName: "set", abstract: "Set the clock of the device, and read it back.")

  @Argument(
    help: "now for the time of this host, or a time in UTC such as 2026-11-28T12:00:00.",
    transform: Self.time)
  var time: CalendarTime?

  @OptionGroup var target: DeviceOption
  @OptionGroup var capture: CaptureOption
  @OptionGroup var global: GlobalOptions

  var subject: Subject { Subject(device: target.device.text) }
  var captureFile: OutputFile? { capture.file }

  private static func time(_ text: String) throws -> CalendarTime? {
    guard text != "now" else { return nil }
    guard let time = CalendarTime(text) else {
      throw ValidationError("'\(text)' is not a time; write now or 2026-11-28T12:00:00")
    }
    return time
  }

  func perform(in session: Session) async throws(CommandFault) -> Ending {
    let time = time
    return try await SMPClock { time ?? .ofHost }
      .show(on: target.device, isExclusive: true, "set", in: session)
  }
}

extension CalendarTime {
  /// The time of this host in UTC.
  fileprivate static var ofHost: CalendarTime {
    let milliseconds = Int((Timestamp.secondsSince1970() * 1000).rounded(.down))
    return CalendarTime(
      secondsSince1970: milliseconds / 1000, milliseconds: milliseconds % 1000)
  }
}

extension SMPClock {
  fileprivate func show(
    on device: DeviceSelector, isExclusive: Bool, _ outcome: String, in session: Session
  ) async throws(CommandFault) -> Ending {
    let (found, host) = try await device.exchange(in: session, isExclusive: isExclusive) {
      (dialer, clock) async throws(UpdateFault) -> (CalendarTime, CalendarTime) in
      (try await run(on: dialer, clock: clock), .ofHost)
    }
    // The device may report only full seconds.
    let difference = found.secondsSince1970 - host.secondsSince1970
    session.console.event(
      "device_time",
      ["time": .string("\(found)"), "difference_seconds": .integer(difference)])
    let words =
      switch difference {
      case 0: "equal to the clock of this host"
      case 1...: "\(Text.grouped(difference)) s ahead of this host"
      default: "\(Text.grouped(-difference)) s behind this host"
      }
    session.console.result("\(found) UTC, \(words)")
    return device.ending(outcome)
  }
}
