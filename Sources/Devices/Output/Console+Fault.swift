import OtaflashConsole

extension Console {
  package func fail(_ report: FaultReport) {
    event(
      "error",
      [
        "code": .string(report.code.rawValue), "message": .string(report.what),
        "why": .string(report.why), "help": .string(report.help),
        "retryable": .bool(report.retryable),
        "details": report.details.isEmpty ? nil : .array(report.details.map { .string($0) }),
        "places": report.passages.isEmpty ? nil : .array(report.passages.map(\.json)),
        "image_state": report.imageState.map { .string($0.rawValue) },
      ])
    let style = settings.errorStyle
    let head: [Line] = [
      "\(style.red("error[\(report.code.rawValue)]")): \(report.what)"
    ]
    let rest: [Line] = ["  \(report.why)", "  help: \(report.help)"]
    error(head + report.excerpts.map { "\($0)" } + rest)
  }

  /// Writes the result, which must be the last output.
  package func end(_ ending: Ending) {
    event("result", ending.members)
    finish()
  }
}

extension FilePassage {
  fileprivate var json: JSONValue {
    .object(
      JSONValue.fields([
        "file": .string(path), "line": .integer(line), "column": .integer(column),
        "message": .string(words),
      ]))
  }
}
