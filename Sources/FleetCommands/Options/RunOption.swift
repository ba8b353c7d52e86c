#if Fleet
import ArgumentParser

/// The run that a command concerns.
struct RunOption: ParsableArguments, Sendable {
  @Argument(
    help:
      """
      The run, by the first characters of its name (default: the active run, otherwise the newest \
      run).
      """)
  var run: String?
}
#endif
