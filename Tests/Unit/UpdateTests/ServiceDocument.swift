import Foundation
import Testing

/// docs/ota-service.md and the receiver's header, in the form in which the tests read them.
enum ServiceDocument {
  private static let root = URL(filePath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent()

  static func text() throws -> String {
    try String(contentsOf: root.appending(path: "docs/ota-service.md"), encoding: .utf8)
  }

  /// The cells of each table row, without the header of the table, in the section whose heading
  /// starts with `heading`.
  static func rows(of heading: String) throws -> [[String]] {
    let lines = try section(heading).split(separator: "\n").filter { $0.hasPrefix("|") }
    return lines.dropFirst(2).map { line in
      line.dropFirst().dropLast().split(separator: "|", omittingEmptySubsequences: false)
        .map { $0.trimmingCharacters(in: .whitespaces) }
    }
  }

  /// The text from a heading that starts with `heading` to the next heading of any level. The text
  /// does not contain `heading`, but the rest of its line.
  static func section(_ heading: String) throws -> String {
    let text = try text()
    let start = try #require(text.range(of: "\n" + heading), "no heading \(heading)")
    let rest = text[start.upperBound...]
    return String(rest[..<(rest.range(of: "\n#")?.lowerBound ?? rest.endIndex)])
  }

  /// The byte strings of the test vector with the name `what`.
  static func vector(_ what: String, in heading: String = "## 11.") throws -> [[UInt8]] {
    let row = try #require(
      try rows(of: heading).first { $0[0] == what }, "no test vector called \(what)")
    let repeated = Array(repeating: "00", count: 16).joined(separator: " ")
    let cell = row[1].replacing("` and 16 × `00`", with: " \(repeated)`")
    return try cell.split(separator: "`", omittingEmptySubsequences: false).enumerated()
      .filter { !$0.offset.isMultiple(of: 2) }
      .map { try bytes(String($0.element)) }
  }

  /// Parses `01 A0` to bytes.
  static func bytes(_ hexadecimal: String) throws -> [UInt8] {
    try hexadecimal.split(separator: " ").map { try #require(UInt8($0, radix: 16)) }
  }

  /// The named numbers in the receiver's header.
  static func headerConstants() throws -> [String: UInt32] {
    let path = "Sources/OTAReceiver/include/ota_receiver.h"
    let header = try String(contentsOf: root.appending(path: path), encoding: .utf8)
    var constants: [String: UInt32] = [:]
    for match in header.matches(of: /\b(OTA_[A-Z0-9_]+) = (0x)?([0-9A-F]+)\b/) {
      let radix = match.output.2 == nil ? 10 : 16
      constants[String(match.output.1)] = UInt32(match.output.3, radix: radix)
    }
    return constants
  }
}
