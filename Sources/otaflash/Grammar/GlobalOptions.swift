import ArgumentParser
import OtaflashConsole

/// The options that every command takes, before or after its name.
struct GlobalOptions: ParsableArguments, Sendable {
  @OptionGroup var output: OutputOptions

  @Option(
    name: .long,
    help: ArgumentHelp(
      "The Bluetooth adapter to use; sim, or sim:8, hears simulated devices.", valueName: "hciN"))
  var adapter: String?

  @Option(
    name: .long,
    help: ArgumentHelp(
      "How long to look for a device, or to wait for it; with scan, how long to listen.",
      valueName: "time"),
    transform: TimeSpan.parse)
  var timeout: TimeSpan?

  @Option(
    name: .long,
    help: ArgumentHelp(
      "How long a device may take to answer a request, 100ms to 30s. The specification has 30s.",
      valueName: "time"),
    transform: TimeSpan.parse)
  var transactionLimit: TimeSpan?

  @OptionGroup var questions: QuestionOptions

  private static let transactionLimits = Duration.milliseconds(100)...Duration.seconds(30)

  func validate() throws {
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

  /// The number of the adapter asked for, or `nil` for the first that works.
  var adapterNumber: UInt16? { adapter.flatMap(AdapterName.init(listText:))?.number }

  var verbose: Int { output.verbose }
  var quiet: Bool { output.quiet }
  var json: Bool { output.json }
  var noInput: Bool { questions.noInput }
  var yes: Bool { questions.yes }

  /// These options as words, for a run that goes on from this one.
  var words: [String] {
    (adapter.map { ["--adapter", $0] } ?? []) + output.words + (yes ? ["--yes"] : [])
  }

  /// The devices that are heard instead of real ones.
  var simulatedAir: SimulatedAir? { adapter.flatMap { SimulatedAir($0) } }
}
