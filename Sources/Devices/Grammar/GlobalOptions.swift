import ArgumentParser
import OtaflashConsole

/// The options of every command, before or after its name.
package struct GlobalOptions: ParsableArguments, Sendable {
  @OptionGroup package var output: OutputOptions

  @Option(
    name: .long,
    help: ArgumentHelp(
      "The Bluetooth adapter to use, such as hci0; sim simulates six devices, and sim:8 eight.",
      valueName: "hciN"))
  package var adapter: String?

  @Option(
    name: .long,
    help: ArgumentHelp(
      "The time limit to find a device or to wait for it; for scan, the duration of the scan.",
      valueName: "time"),
    transform: TimeSpan.parse)
  package var timeout: TimeSpan?

  @Option(
    name: .long,
    help: ArgumentHelp(
      "The time limit for the answer to a request, 100ms to 30s; the specification defines 30s.",
      valueName: "time"),
    transform: TimeSpan.parse)
  package var transactionLimit: TimeSpan?

  @OptionGroup package var questions: QuestionOptions

  package init() {}

  private static let transactionLimits = Duration.milliseconds(100)...Duration.seconds(30)

  package func validate() throws {
    if let transactionLimit, !Self.transactionLimits.contains(transactionLimit.duration) {
      throw ValidationError("--transaction-limit must be 100ms to 30s")
    }
    guard let adapter else { return }
    guard adapterNumber == nil, simulatedAir == nil else { return }
    guard !adapter.hasPrefix("sim") else {
      throw ValidationError("'\(adapter)' is not \(SimulatedAir.expected)")
    }
    throw ValidationError("'\(adapter)' is not \(AdapterName.expected)")
  }

  /// The number of the requested adapter, or `nil` for the first adapter that works.
  package var adapterNumber: UInt16? { adapter.flatMap(AdapterName.init(listText:))?.number }

  package var verbose: Int { output.verbose }
  package var quiet: Bool { output.quiet }
  package var json: Bool { output.json }
  package var noInput: Bool { questions.noInput }
  package var yes: Bool { questions.yes }

  /// The adapter, the output options and `--yes` as arguments, for a run that continues this run.
  package var words: [String] {
    (adapter.map { ["--adapter", $0] } ?? []) + output.words + (yes ? ["--yes"] : [])
  }

  /// The simulated devices that replace real devices.
  package var simulatedAir: SimulatedAir? { adapter.flatMap { SimulatedAir($0) } }
}
