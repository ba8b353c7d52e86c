/// The output of a run as JSON Lines, schema version 1 (docs/events.schema.json).
package struct JSONLines: Sendable {
  package static let schemaVersion = 1

  private var next = 0
  package private(set) var ended = false

  /// Returns one line without its line break. `result` is the last event.
  package mutating func line(_ type: String, _ members: [JSONValue.Member]) -> String {
    precondition(!ended, "an event after the result")
    let head = JSONValue.fields([
      "v": .integer(Self.schemaVersion), "seq": .integer(next), "type": .string(type),
    ])
    next += 1
    ended = type == "result"
    return JSONValue.object(head + members).text
  }

  package mutating func line(_ type: String, _ members: KeyValuePairs<String, JSONValue?>) -> String
  {
    line(type, JSONValue.fields(members))
  }
}
