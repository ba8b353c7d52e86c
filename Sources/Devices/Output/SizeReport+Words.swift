import OtaflashConsole
import OtaflashUpdate

extension SizeReport {
  /// What -v adds: a whole line.
  package var sentence: String {
    let rate = Text.rate(kept.bytesPerSecond)
    guard !isRemembered else {
      return "data writes of \(kept.chunk) bytes, the best of an earlier update (\(rate))"
    }
    let tried = tried.map { "\($0.chunk) at \(Text.rate($0.bytesPerSecond))" }
    return "data writes of \(kept.chunk) bytes, the best of those tried: "
      + tried.joined(separator: ", ")
  }

  /// Members of an event of type `flow`.
  package var members: KeyValuePairs<String, JSONValue?> {
    [
      "event": isRemembered ? "size-remembered" : "sizes-tried", "chunk": .integer(kept.chunk),
      "rate_bytes_per_second": .integer(Int(kept.bytesPerSecond.rounded())),
      "tried": isRemembered
        ? nil
        : .array(
          tried.map {
            .object([
              "chunk": .integer($0.chunk),
              "rate_bytes_per_second": .integer(Int($0.bytesPerSecond.rounded())),
            ])
          }),
    ]
  }
}
