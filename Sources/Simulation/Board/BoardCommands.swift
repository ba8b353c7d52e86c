import OtaflashGATT

/// The commands of a simulated application, for its console and for the SMP shell.
struct BoardCommands: Sendable {
  /// The code of an unknown command in Zephyr's shell (ENOEXEC).
  private static let unknown: Int32 = -8

  let name: String
  let version: String

  /// Returns the output and the return code of a command line.
  func answer(_ line: String) -> (output: String, code: Int32) {
    let words = line.split(separator: " ")
    switch words.first {
    case "help": return ("help  version  echo TEXT\n", 0)
    case "version": return ("\(name) \(version)\n", 0)
    case "echo": return (words.dropFirst().joined(separator: " ") + "\n", 0)
    default: return ("\(words.first ?? ""): command not found\n", Self.unknown)
    }
  }

  /// Returns the log line with this number in the format of Zephyr; line 0 is the boot banner.
  func logLine(_ number: Int, at uptime: Duration) -> String {
    guard number > 0 else { return "*** Booting \(name) \(version) ***\r\n" }
    let (seconds, attoseconds) = uptime.components
    func two(_ value: Int64) -> String { value < 10 ? "0\(value)" : "\(value)" }
    func three(_ value: Int64) -> String { value < 100 ? "0\(two(value))" : "\(value)" }
    let time =
      "\(two(seconds / 3600)):\(two(seconds / 60 % 60)):\(two(seconds % 60))."
      + three(attoseconds / 1_000_000_000_000_000) + ",000"
    let level = number.isMultiple(of: 7) ? "<wrn>" : "<inf>"
    let temperature = "\(20 + number % 5).\(number % 10) °C"
    return "[\(time)] \(level) app: sample \(number), temperature \(temperature)\r\n"
  }
}
