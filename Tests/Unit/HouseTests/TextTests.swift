import Foundation
import Testing

/// Tests that the messages of the libraries suit the users of any program.
@Suite struct TextTests {
  /// Content that a message may not have: a command of otaflash, or an option of any program.
  static let commandLine = [
    #"otaflash (scan|info|flash|image|bench|simulate|devices|doctor|completion|slots|reset|pair|"#
      + "unpair)",
    #"command -v otaflash"#, #"(^|[^-\w])--[a-z]"#,
  ]

  /// The string literals in a line of code; a comment has no literals.
  static func literals(in line: Substring) throws -> [Substring] {
    guard !line.drop(while: { $0 == " " }).hasPrefix("//") else { return [] }
    return line.matches(of: try Regex(#""((?:[^"\\]|\\.)*)""#)).compactMap { $0[1].substring }
  }

  static func offences(in text: String) throws -> [String] {
    let patterns = try commandLine.map { try Regex($0) }
    return try text.split(separator: "\n").flatMap { try literals(in: $0) }
      .filter { literal in patterns.contains { literal.firstMatch(of: $0) != nil } }
      .map { String($0) }
  }

  /// Literals that are bytes of a protocol, not text.
  static let protocols = ["otaflash authorize"]

  /// The parts of the command line, in which messages may mention the command line.
  static let program: Set = [
    "Console", "Devices", "Bench", "FleetHost", "FleetCommands", "Program", "otaflash", "SiteHost",
    "otaflash-coordinator", "otaflash-gateway",
  ]

  @Test(arguments: Set(ImportTests.permitted.keys).subtracting(program).sorted())
  func noTextOfALibraryNamesTheCommandLine(_ target: String) throws {
    for file in try ImportTests.files(of: "Sources/\(target)") {
      for literal in try Self.offences(in: file.text) where !Self.protocols.contains(literal) {
        Issue.record("\(file.path) contains '\(literal)'")
      }
    }
  }

  @Test func aTextWithACommandIsFound() throws {
    let text = #"""
      // "otaflash scan" in a comment does not count.
      a("Run `otaflash doctor`."); b("send it with --restart"); c("-----begin key")
      d("an otaflash board", "$(command -v otaflash)")
      """#
    #expect(
      try Self.offences(in: text) == [
        "Run `otaflash doctor`.", "send it with --restart", "$(command -v otaflash)",
      ])
  }

  /// A program may display any fault that it catches, and the notation of an enum is not readable
  /// text.
  @Test func everyPublicFaultHasAMessage() throws {
    var faults: [String] = []
    var described: Set<String> = []
    for target in ImportTests.permitted.keys {
      for file in try ImportTests.files(of: "Sources/\(target)") {
        let kinds = /public enum (\w+(?:Fault|Loss|Refusal))\b[^{]*Error/
        faults += file.text.matches(of: kinds).map { String($0.1) }
        let words =
          /(?:extension|enum) (\w+)[^{\n]*\b(?:CustomStringConvertible|ExplainedFault)\b/
        described.formUnion(file.text.matches(of: words).map { String($0.1) })
      }
    }
    #expect(faults.count > 25)
    for fault in faults where !described.contains(fault) {
      Issue.record("\(fault) has no message")
    }
  }
}
