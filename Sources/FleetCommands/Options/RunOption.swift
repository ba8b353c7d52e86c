#if Fleet
import ArgumentParser
import FoundationEssentials
import OtaflashFleetHost

/// The run that a command concerns.
struct RunOption: ParsableArguments, Sendable {
  @Argument(
    help:
      """
      The run, by the first characters of its name (default: the active run, otherwise the newest \
      run).
      """,
    completion: .custom { _, _, prefix in
      FleetFolder.runNames(environment: ProcessInfo.processInfo.environment)
        .filter { $0.hasPrefix(prefix) }
    })
  var run: String?
}
#endif
