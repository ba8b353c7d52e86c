#if Fleet
import ArgumentParser
import OtaflashFleet
import OtaflashFleetReport
import OtaflashFleetStore

/// What a run did: for a manager, for continuous integration, for a spreadsheet; and the proof that
/// nothing of it is missing.
struct FleetReportCommand: Subcommand {
  static let configuration = CommandConfiguration(
    commandName: "report",
    abstract: "Write a report of a run, also while it runs.",
    discussion: "Without a file it tells what stands in its head.")
  static let words = "fleet report"

  @OptionGroup var option: RunOption

  @Option(
    name: .long, help: ArgumentHelp("Write one page of HTML, all in one file.", valueName: "path"),
    completion: .file(extensions: ["html"]))
  var html: String?

  @Option(
    name: .long,
    help: ArgumentHelp("Write a JUnit file, a test for each device.", valueName: "path"),
    completion: .file(extensions: ["xml"]))
  var junit: String?

  @Option(
    name: .long, help: ArgumentHelp("Write a table with a row for each device.", valueName: "path"),
    completion: .file(extensions: ["csv"]))
  var csv: String?

  @Flag(
    name: .long, help: "Compare every event with its recorded hash, as every report does, and tell."
  )
  var verify = false

  @OptionGroup var global: GlobalOptions

  func perform(in session: Session) async throws(CommandFault) -> Ending {
    let folder = try FleetFolder(of: session)
    guard let store = try folder.look() else { throw .fleet(.search(.none)) }
    let kept = try folder.find(option.run, in: store)
    for file in files {
      do throws(OutputFileFault) { try file.check(avoiding: session.inputs) } catch {
        throw .outputFile(file, error)
      }
    }
    let found = try store.checkedChain(of: kept.id)
    let chain = ReportSurroundings.Chain(events: found.events, head: found.head)
    guard let report = RunReport(try await store.history(of: kept.id)) else {
      throw .fleet(.noEvents(of: kept.id))
    }
    var surroundings = ReportSurroundings(
      program: "otaflash \(Release.version)", written: .now)
    surroundings.chain = chain
    surroundings.verification = session.command("fleet", "report", kept.id, "--verify")
    for file in files {
      do throws(OutputFileFault) {
        try file.write(Array(text(file.kind, report, surroundings).utf8), avoiding: session.inputs)
      } catch {
        throw .outputFile(file, error)
      }
    }
    tell(kept, report, chain, in: session)
    return .done("reported")
  }

  private var files: [OutputFile] {
    [
      html.map { OutputFile(path: $0, kind: .html, option: "--html") },
      junit.map { OutputFile(path: $0, kind: .junit, option: "--junit") },
      csv.map { OutputFile(path: $0, kind: .csv, option: "--csv") },
    ].compactMap(\.self)
  }

  private func text(
    _ kind: OutputFile.Kind, _ report: RunReport, _ surroundings: ReportSurroundings
  ) -> String {
    switch kind {
    case .html: HTMLReport.text(report, in: surroundings)
    case .junit: JUnitReport.text(report)
    case .csv: CSVReport.text(report)
    case .btsnoop, .svg, .png, .patch, .plan: preconditionFailure("this is no report")
    }
  }

  private func tell(
    _ device: DeviceReport, of run: KeptRun, _ report: RunReport, in session: Session
  ) {
    session.console.event(
      "fleet_report_device",
      JSONValue.fields([
        "run": .string(run.id), "device": .string(device.device.id),
        "name": .text(device.device.name), "board": .text(device.device.board),
        "site": .text(device.device.site), "wave": .string(report.waves[device.wave].name),
      ]) + device.members)
  }

  private func tell(
    _ run: KeptRun, _ report: RunReport, _ chain: ReportSurroundings.Chain, in session: Session
  ) {
    let hash = Text.hex(chain.head)
    session.console.event(
      "fleet_report",
      [
        "run": .string(run.id), "campaign": .string(run.campaign),
        "state": .string(report.stateWords), "headline": .string(report.headline),
        "events": .integer(chain.events), "chain": .string(hash),
        "files": .array(files.map { .string($0.path) }),
        "patches": report.savings.map { savings in
          .object([
            "devices": .integer(savings.devices), "octets": .integer(savings.sent),
            "image": .integer(savings.made),
          ])
        },
      ])
    for device in report.devices { tell(device, of: run, report, in: session) }
    session.console.result("run \(run.id)  \(run.campaign)  \(report.stateWords)")
    session.console.result("  \(report.headline)")
    if let savings = report.savings { session.console.result("  " + savings.words) }
    session.console.result(
      "  \(Text.grouped(chain.events)) events, none changed; the last is \(hash)")
    for file in files { session.console.result("  written: \(file.path)") }
  }
}
#endif
