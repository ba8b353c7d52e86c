#if Fleet
import ArgumentParser
import OtaflashConsole
import OtaflashDevices
import OtaflashFleet
import OtaflashFleetHost
import OtaflashFleetReport
import OtaflashFleetStore

/// Writes reports of a run as HTML, JUnit, CSV and metrics, and verifies that its events are
/// complete.
struct FleetReportCommand: Subcommand {
  static let configuration = CommandConfiguration(
    commandName: "report",
    abstract: "Write a report of a run, during or after the run.",
    discussion: """
      Without a file, prints the result. The hash of the last event covers all events of the run: \
      keep a copy outside of the store, such as in a ticket, and pass it to --verify later. \
      'fleet run' prints it at each verdict and at the end.
      """)
  static let words = "fleet report"

  @OptionGroup var option: RunOption

  @Option(
    name: .long, help: ArgumentHelp("Write a self-contained HTML page.", valueName: "path"),
    completion: .file(extensions: ["html"]))
  var html: String?

  @Option(
    name: .long,
    help: ArgumentHelp("Write a JUnit file with a test for each device.", valueName: "path"),
    completion: .file(extensions: ["xml"]))
  var junit: String?

  @Option(
    name: .long, help: ArgumentHelp("Write a table with a row for each device.", valueName: "path"),
    completion: .file(extensions: ["csv"]))
  var csv: String?

  @Option(
    name: .long,
    help: ArgumentHelp(
      "Write metrics in Prometheus text format, for node_exporter's textfile collector.",
      valueName: "path"),
    completion: .file(extensions: ["prom"]))
  var prometheus: String?

  @Option(
    name: .long, defaultAsFlag: ChainCheck.recorded, parsing: .next,
    help: ArgumentHelp(
      """
      Compare every event with its hash, and find deleted runs; with HASH, also require that an \
      event of the run has this hash.
      """, valueName: "hash"))
  var verify: ChainCheck?

  @Option(
    name: .long,
    help: ArgumentHelp(
      "Write the run's name, its number of events and the last hash.", valueName: "path"),
    completion: .file())
  var head: String?

  @Option(
    name: .long,
    help: ArgumentHelp(
      "Sign the file of --head with this SSH or minisign key; the signature is PATH.sig or "
        + "PATH.minisig.",
      valueName: "key"),
    completion: .file())
  var sign: String?

  @OptionGroup var global: GlobalOptions

  var inputFiles: [String] { [sign].compactMap(\.self) }

  func validate() throws {
    if verify == .recorded, let name = option.run, ChainCheck.isMistaken(forRun: name) {
      throw ValidationError("'\(name)' is not a hash: --verify accepts 64 hexadecimal digits")
    }
    guard sign == nil || head != nil else {
      throw ValidationError("--sign requires --head, the file to sign")
    }
  }

  func perform(in session: Session) async throws(CommandFault) -> Ending {
    let folder = try FleetFolder(of: session)
    guard let store = try folder.look() else { throw .fleet(.search(.none)) }
    let kept = try folder.find(option.run, in: store)
    let tool: RunStatement.Tool? =
      if let sign { try RunStatement.tool(for: sign) } else { nil }
    let signature = head.flatMap { head in
      tool.map { OutputFile(path: head + $0.suffix, kind: .signature, option: "--sign") }
    }
    for file in files + [signature].compactMap(\.self) {
      do throws(OutputFileFault) { try file.check(avoiding: session.inputs) } catch {
        throw .outputFile(file, error)
      }
    }
    let found = try store.checkedChain(of: kept.id)
    let place = try verify?.place(in: kept.id, found, of: store)
    let losses = try store.lossWords()
    let statement = RunStatement(
      run: kept.id, events: found.events, head: Text.hex(found.head))
    let chain = ReportSurroundings.Chain(events: found.events, head: found.head)
    guard let report = RunReport(try await store.history(of: kept.id)) else {
      throw .fleet(.noEvents(of: kept.id))
    }
    var surroundings = ReportSurroundings(
      program: "otaflash \(Release.version)", written: .now)
    surroundings.chain = chain
    surroundings.verification = session.command(
      "fleet", "report", kept.id, "--verify", Text.hex(found.head))
    var contents = files.map { ($0, Array(text($0.kind, report, surroundings, statement).utf8)) }
    if let signature, let tool, let sign {
      contents.append((signature, try await statement.signature(by: tool, key: sign, in: session)))
    }
    for (file, content) in contents {
      do throws(OutputFileFault) { try file.write(content, avoiding: session.inputs) } catch {
        throw .outputFile(file, error)
      }
    }
    printResult(kept, report, chain, contents.map(\.0.path), in: session)
    if let place {
      session.console.result(
        "  event \(Text.grouped(place)) of \(Text.grouped(found.events)) has the given hash")
    }
    guard losses.isEmpty || verify != nil else {
      session.console.note("note: \(losses[0]); fleet report --verify lists such runs")
      return .done("reported")
    }
    guard losses.isEmpty else { throw .fleet(.lostRuns(run: kept.id, losses)) }
    return .done("reported")
  }

  private var files: [OutputFile] {
    [
      html.map { OutputFile(path: $0, kind: .html, option: "--html") },
      junit.map { OutputFile(path: $0, kind: .junit, option: "--junit") },
      csv.map { OutputFile(path: $0, kind: .csv, option: "--csv") },
      prometheus.map { OutputFile(path: $0, kind: .prometheus, option: "--prometheus") },
      head.map { OutputFile(path: $0, kind: .head, option: "--head") },
    ].compactMap(\.self)
  }

  private func text(
    _ kind: OutputFile.Kind, _ report: RunReport, _ surroundings: ReportSurroundings,
    _ statement: RunStatement
  ) -> String {
    switch kind {
    case .html: HTMLReport.text(report, in: surroundings)
    case .junit: JUnitReport.text(report)
    case .csv: CSVReport.text(report)
    case .prometheus: PrometheusReport.text(report)
    case .head: statement.text
    default: preconditionFailure("this is not a report")
    }
  }

  private func printResult(
    _ run: KeptRun, _ report: RunReport, _ chain: ReportSurroundings.Chain, _ files: [String],
    in session: Session
  ) {
    let hash = Text.hex(chain.head)
    session.console.event(
      "fleet_report",
      report.members(events: chain.events, chain: chain.head)
        + JSONValue.fields(["files": .array(files.map { .string($0) })]))
    for device in report.devices {
      session.console.event(
        "fleet_report_device",
        JSONValue.fields(["run": .string(run.id)]) + report.members(of: device))
    }
    session.console.result("run \(run.id)  \(run.campaign)  \(report.stateWords)")
    session.console.result("  \(report.headline)")
    if let savings = report.savings { session.console.result("  " + savings.words) }
    session.console.result(
      "  \(Text.grouped(chain.events)) events, unchanged; the last has the hash \(hash)")
    for file in files { session.console.result("  written: \(file)") }
  }
}
#endif
