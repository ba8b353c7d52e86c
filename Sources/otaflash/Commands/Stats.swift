import ArgumentParser
import OtaflashConsole
import OtaflashDevices
import OtaflashUpdate

/// Shows the statistics of a device with SMP.
struct Stats: TargetedCommand {
  static let takesSimulatedAir = true
  static let configuration = CommandConfiguration(
    commandName: "stats",
    abstract: "Show the statistics of a device with SMP.",
    discussion: """
      Without a group, all groups are shown. The firmware must be built with CONFIG_STATS and \
      CONFIG_MCUMGR_GRP_STAT. Without CONFIG_STATS_NAMES, the counters are named s0, s1, and so on.
      """)

  @Argument(help: "The group of counters.")
  var group: String?

  @Flag(name: .long, help: "Show only the names of the groups.")
  var list = false

  @OptionGroup var target: DeviceOption
  @OptionGroup var capture: CaptureOption
  @OptionGroup var global: GlobalOptions

  var subject: Subject { Subject(device: target.device.text) }
  var captureFile: OutputFile? { capture.file }

  private static let columns = ["GROUP", "COUNTER", "VALUE"]

  func validate() throws {
    guard !list || group == nil else {
      throw ValidationError("--list cannot be combined with a group")
    }
  }

  func perform(in session: Session) async throws(CommandFault) -> Ending {
    let reading = SMPStatisticsReading(of: group, listsNames: list)
    let groups = try await target.device.exchange(in: session, isExclusive: false) {
      (dialer, clock) async throws(UpdateFault) in try await reading.run(on: dialer, clock: clock)
    }
    let console = session.console
    for group in groups {
      let counters = group.counters.map { counter in
        JSONValue.object([
          "name": .string(counter.name), "value": .string(String(counter.value)),
        ])
      }
      console.event(
        "statistics",
        ["group": .string(group.name), "counters": list ? nil : .array(counters)])
    }
    if list {
      for group in groups { console.result(group.name) }
    } else {
      let rows = groups.flatMap { group in
        group.counters.map { [group.name, $0.name, String($0.value)] }
      }
      for line in Text.table([Self.columns] + rows) { console.result(line) }
    }
    return target.device.ending("shown")
  }
}
