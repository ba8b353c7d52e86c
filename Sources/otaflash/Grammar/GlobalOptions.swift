import ArgumentParser

enum ColorChoice: String, ExpressibleByArgument, CaseIterable, Sendable {
  case auto, always, never
}

enum ProgressChoice: String, ExpressibleByArgument, CaseIterable, Sendable {
  case auto, bar, plain, none
}

/// The options that every command takes, before or after its name.
struct GlobalOptions: ParsableArguments, Sendable {
  @Flag(name: .shortAndLong, help: "Say more; -vv tells each step of a connection, -vvv each PDU.")
  var verbose: Int

  @Flag(name: .shortAndLong, help: "Print the result and errors only.")
  var quiet = false

  @Flag(name: .long, help: "Write JSON Lines (schema version 1) to standard output.")
  var json = false

  @Option(name: .long, help: "When to colour: auto, always or never.")
  var color = ColorChoice.auto

  @Option(name: .long, help: "How to show progress: auto, bar, plain or none.")
  var progress = ProgressChoice.auto

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

  @Flag(name: .long, help: "Never ask anything; refuse where a question would be asked.")
  var noInput = false

  @Flag(name: .shortAndLong, help: "Answer every question with yes.")
  var yes = false

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

  /// These options as words, for a run that goes on from this one.
  var words: [String] {
    var words = adapter.map { ["--adapter", $0] } ?? []
    words += Array(repeating: "-v", count: verbose)
    if color != .auto { words += ["--color", color.rawValue] }
    if progress != .auto { words += ["--progress", progress.rawValue] }
    return words + (yes ? ["--yes"] : [])
  }

  /// The devices that are heard instead of real ones.
  var simulatedAir: SimulatedAir? { adapter.flatMap { SimulatedAir($0) } }
}
