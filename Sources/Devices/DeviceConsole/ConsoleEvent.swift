import OtaflashConsole

/// An event of a device's console.
package enum ConsoleEvent: Equatable, Sendable {
  /// The console is open over this channel.
  case opened(String)
  /// A line from the device.
  case received(String)
  /// A line that the user typed was sent.
  case sent(String)
  /// A line that the user typed was not sent.
  case notSent(String, because: String)
  /// The return code of a shell command that failed.
  case returned(Int32)
  /// Values were dropped because this host was too slow.
  case dropped(Int)
  /// The link was lost; the next attempt follows.
  case lost(String)

  /// The text of an event for the terminal and for the log.
  package var line: Line {
    switch self {
    case .opened(let channel): "--- console open (\(channel)) ---"
    case .received(let text): Line(text)
    case .sent(let text): "> \(text)"
    case .notSent(let text, let reason): "--- not sent: \(text) (\(reason)) ---"
    case .returned(let code): "--- return code \(code) ---"
    case .dropped(let count): "--- \(Text.counted(count, "value")) dropped ---"
    case .lost(let reason): "--- no connection: \(reason) ---"
    }
  }

  /// Whether the event is a line from the device or to the device, not a remark of this program.
  package var isOutput: Bool {
    switch self {
    case .received, .sent: true
    case .opened, .notSent, .returned, .dropped, .lost: false
    }
  }

  package func members(at time: String) -> [JSONValue.Member] {
    let (kind, text): (String, String) =
      switch self {
      case .opened(let channel): ("opened", channel)
      case .received(let text): ("received", text)
      case .sent(let text): ("sent", text)
      case .notSent(let text, _): ("not-sent", text)
      case .returned(let code): ("returned", "\(code)")
      case .dropped(let count): ("dropped", "\(count)")
      case .lost(let reason): ("lost", reason)
      }
    return JSONValue.fields(["ts": .string(time), "event": .string(kind), "text": .string(text)])
  }
}
