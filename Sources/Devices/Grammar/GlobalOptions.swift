import ArgumentParser
import OtaflashConsole

/// The options of every command, before or after its name.
package struct GlobalOptions: ParsableArguments, Sendable {
  @OptionGroup package var output: OutputOptions

  @Option(
    name: .long,
    help: ArgumentHelp(
      "The Bluetooth adapter to use; sim, or sim:8, simulates devices.", valueName: "hciN"))
  package var adapter: String?

  @Option(
    name: .long,
    help: ArgumentHelp(
      "How long to look for a device, or to wait for it; with scan, how long to listen.",
      valueName: "time"),
    transform: TimeSpan.parse)
  package var timeout: TimeSpan?

  @Option(
    name: .long,
    help: ArgumentHelp(
      "How long a device may take to answer a request, 100ms to 30s. The specification has 30s.",
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

  /// The number of the requested adapter, or `nil` for the first that works.
  package var adapterNumber: UInt16? { adapter.flatMap(AdapterName.init(listText:))?.number }

  package var verbose: Int { output.verbose }
  package var quiet: Bool { output.quiet }
  package var json: Bool { output.json }
  package var noInput: Bool { questions.noInput }
  package var yes: Bool { questions.yes }

  /// These options as arguments, for a run that continues this one.
  package var words: [String] {
    (adapter.map { ["--adapter", $0] } ?? []) + output.words + (yes ? ["--yes"] : [])
  }

  /// The simulated devices that replace real ones.
  package var simulatedAir: SimulatedAir? { adapter.flatMap { SimulatedAir($0) } }
}
