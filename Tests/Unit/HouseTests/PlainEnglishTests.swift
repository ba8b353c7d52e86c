import Foundation
import Testing

/// Tests that documents, messages, comments and names use the field's words. `dialect.tsv` lists
/// the words of the project's early texts, and what to write instead.
@Suite struct PlainEnglishTests {
  /// A row of `dialect.tsv`: phrases, and the words that replace them.
  struct Row: Sendable {
    let phrases: [[Substring]]
    let replacement: Substring
  }

  /// Exact texts that may contain such a word, each with the reason (`permitted.tsv`).
  static let permitted: [String: String] = {
    let path = ImportTests.root.appending(path: "Tests/Unit/HouseTests/permitted.tsv")
    guard let data = FileManager.default.contents(atPath: path.path) else { return [:] }
    let rows = String(decoding: data, as: UTF8.self).split(separator: "\n")
    return Dictionary(
      rows.map { row in
        let fields = row.split(separator: "\t")
        return (String(fields[0]), String(fields[1]))
      }, uniquingKeysWith: { first, _ in first })
  }()
  static let permittedPhrasesMaximum = 40
  static let permittedHitsMaximum = 150

  static let rows: [Row] = {
    let path = ImportTests.root.appending(path: "Tests/Unit/HouseTests/dialect.tsv")
    guard let data = FileManager.default.contents(atPath: path.path) else { return [] }
    return String(decoding: data, as: UTF8.self).split(separator: "\n").map { line in
      let fields = line.split(separator: "\t")
      let phrases = fields[0].split(separator: ",").map { $0.split(separator: " ") }
      return Row(phrases: phrases, replacement: fields[1])
    }
  }()

  /// The phrases, by their first word.
  static let phrases = Dictionary(grouping: rows.flatMap(\.phrases)) { $0[0] }

  /// A phrase of `dialect.tsv` in a line.
  struct Hit: Equatable {
    let line: Int
    let phrase: String
    let isPermitted: Bool
  }

  static func hits(in text: String) -> [Hit] {
    text.split(separator: "\n", omittingEmptySubsequences: false).enumerated().flatMap {
      (index, line) -> [Hit] in
      let found = phrases(in: line.lowercased())
      guard !found.isEmpty else { return [] }
      let isPermitted = permitted.keys.contains { line.contains($0) }
      return found.map { Hit(line: index + 1, phrase: $0, isPermitted: isPermitted) }
    }
  }

  /// The phrases of a line in lower case; their words are separated by one space each.
  static func phrases(in line: String) -> [String] {
    let words = words(in: line)
    return words.indices.flatMap { start in
      (phrases[words[start]] ?? []).filter { phrase in
        let end = start + phrase.count
        guard end <= words.count, Array(words[start..<end]) == phrase else { return false }
        let between = line[words[start].startIndex..<words[end - 1].endIndex]
        return between == phrase.joined(separator: " ")
      }.map { $0.joined(separator: " ") }
    }
  }

  private static func words(in line: String) -> [Substring] {
    line.split { !($0.isASCII && ($0.isLetter || $0.isNumber)) && $0 != "_" }
  }

  /// All texts for people, except the changelog and the recorded API.
  static func files() throws -> [(path: String, text: String)] {
    let suffixes = [".md", ".swift", ".c", ".h", ".sh", "Makefile"]
    let manager = FileManager.default
    let top = try manager.contentsOfDirectory(atPath: ImportTests.root.path)
      .filter { !$0.hasPrefix(".") || [".ci", ".github"].contains($0) }
    let paths = top.flatMap { name in
      [name]
        + (manager.subpaths(atPath: ImportTests.root.appending(path: name).path) ?? [])
        .map { "\(name)/\($0)" }
    }
    return paths.filter { path in
      (suffixes.contains { path.hasSuffix($0) } || path.hasPrefix("man/"))
        && path != "CHANGELOG.md" && !path.hasPrefix("docs/api/")
        && !path.contains("/.")
    }.sorted().compactMap { path in
      let file = ImportTests.root.appending(path: path)
      guard let data = manager.contents(atPath: file.path) else { return nil }
      return (path, String(decoding: data, as: UTF8.self))
    }
  }

  @Test func textsUseTheWordsOfTheField() throws {
    let files = try Self.files()
    #expect(files.count > 1000)
    var permitted = 0
    for file in files {
      for hit in Self.hits(in: file.text) {
        if hit.isPermitted {
          permitted += 1
        } else {
          Issue.record("\(file.path):\(hit.line): “\(hit.phrase)”; see dialect.tsv")
        }
      }
    }
    #expect(permitted <= Self.permittedHitsMaximum)
    #expect(Self.permitted.count <= Self.permittedPhrasesMaximum)
    for phrase in Self.permitted.keys where !files.contains(where: { $0.text.contains(phrase) }) {
      Issue.record("no text contains “\(phrase)” any more")
    }
  }

  @Test func aWordOfEachRowIsFound() throws {
    #expect(Self.rows.count == 17)
    for row in Self.rows {
      for phrase in row.phrases {
        let words = phrase.joined(separator: " ")
        let text = "A line.\n/// It (\(words.uppercased())) ends\n\(words)_x\nx\(words)\n\(words)s_"
        #expect(Self.hits(in: text).first == Hit(line: 2, phrase: words, isPermitted: false))
      }
    }
  }
}
