import ArgumentParser

/// `--notify`, of commands that may take long.
struct NotifyOption: ParsableArguments, Sendable {
  @Flag(
    name: .long,
    help:
      "Tell when it is over: on the desktop, or by what the terminal has for that, and its bell."
  )
  var notify = false
}
