import OtaflashUpdate

/// The machine's view of a run: JSON Lines, schema version 1 (docs/events.schema.json).
struct JSONLines: Sendable {
  static let schemaVersion = 1

  private var next = 0
  /// By device, in the order in which they were first told of.
  private var traces: [DeviceTrace] = []
  private var places: [String: Int] = [:]
  private(set) var ended = false

  /// One line without its line break. Nothing may follow a `result`.
  mutating func line(_ type: String, _ members: [JSONValue.Member]) -> String {
    precondition(!ended, "an event after the result")
    let head = JSONValue.fields([
      "v": .integer(Self.schemaVersion), "seq": .integer(next), "type": .string(type),
    ])
    next += 1
    ended = type == "result"
    return JSONValue.object(head + members).text
  }

  mutating func line(_ type: String, _ members: KeyValuePairs<String, JSONValue?>) -> String {
    line(type, JSONValue.fields(members))
  }

  mutating func observe(
    _ event: UpdateEvent, of device: String, at now: Duration
  ) -> [String] {
    let place = places[device] ?? traces.count
    if place == traces.count {
      places[device] = place
      traces.append(DeviceTrace(device: device))
    }
    return traces[place].observe(event, at: now).map { line($0.type, $0.members) }
  }

  /// Closes what is open of a device, before its end.
  mutating func end(_ device: String, ok: Bool, at now: Duration) -> [String] {
    guard let place = places[device] else { return [] }
    return traces[place].endAll(ok: ok, at: now).map { line($0.type, $0.members) }
  }

  /// Closes all that is open, before an error or the result.
  mutating func endAll(ok: Bool, at now: Duration) -> [String] {
    traces.indices.flatMap { place in
      traces[place].endAll(ok: ok, at: now).map { line($0.type, $0.members) }
    }
  }
}
