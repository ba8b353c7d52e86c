import ArgumentParser

/// `--notify`, for commands that may take a long time.
package struct NotifyOption: ParsableArguments, Sendable {
  @Flag(
    name: .long,
    help:
      "Send a notification at the end: on the desktop, or in the terminal with a bell."
  )
  package var notify = false

  package init() {}
}
