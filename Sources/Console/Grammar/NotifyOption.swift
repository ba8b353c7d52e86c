import ArgumentParser

/// `--notify`, of commands that may take long.
package struct NotifyOption: ParsableArguments, Sendable {
  @Flag(
    name: .long,
    help:
      "Tell when it is over: on the desktop, or by what the terminal has for that, and its bell."
  )
  package var notify = false

  package init() {}
}
