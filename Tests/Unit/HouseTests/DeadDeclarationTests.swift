import Foundation
import Testing

/// Tests that every declaration is used somewhere else: in the sources, a test, an example, a
/// benchmark or a fuzz target. A name that is declared twice must occur a third time.
@Suite struct DeadDeclarationTests {
  /// Declarations that are used only by code outside of the repository.
  static let reasons = [
    "allValueStrings": "ArgumentParser asks for it",
    "defaultValueDescription": "ArgumentParser asks for it",
    "appendLiteral": "the compiler asks for it",
    "DevicePublishedCodingKeys": "the compiler asks for it",
    "unownedExecutor": "the actor's runtime asks for it",
    "escapeText": "Mustache asks for it",
    "lowPower": "one of three ways to scan, for apps",
  ]

  static let keywords: Set<Substring> = [
    "func", "var", "let", "struct", "class", "enum", "protocol", "actor", "typealias",
    "associatedtype",
  ]

  /// The names that a line of code declares. Constants and cases with explicit numbers are
  /// excluded: they belong to tables of external standards, which are kept complete.
  static func declared(in line: Substring) -> [Substring] {
    let words = SourceWords.words(in: line)
    if words.first == "case" || words.starts(with: ["indirect", "case"]) {
      return isOfATable(line) ? [] : cases(of: line)
    }
    let names = zip(words, words.dropFirst()).filter { keywords.contains($0.0) }.map(\.1)
    return names.isEmpty || isOfATable(line) ? [] : names
  }

  private static func isOfATable(_ line: Substring) -> Bool { line.contains(/= -?\d|rawValue:/) }

  /// The names in `case one, two(Int)`; no names for the cases of a `switch`.
  private static func cases(of line: Substring) -> [Substring] {
    let trimmed = line.drop { $0 == " " }
    guard !trimmed.hasPrefix("case ."), !trimmed.hasPrefix("case let "), !line.hasSuffix(":") else {
      return []
    }
    let names = line.replacing(/\([^()]*(\([^()]*\)[^()]*)*\)/, with: "")
    guard !names.contains(":"), !names.contains("."), !names.contains("=") else { return [] }
    return names.split(separator: ",").compactMap { SourceWords.words(in: $0).last }
  }

  /// The locations of all names in `sources` that occur nowhere else.
  static func dead(
    in sources: [(path: String, text: String)], namedBy others: [String]
  ) -> [String] {
    var named: [Substring: Int] = [:]
    var places: [Substring: [String]] = [:]
    for text in sources.map(\.text) + others {
      for line in SourceWords.lines(of: text) {
        for word in SourceWords.words(in: line) { named[word, default: 0] += 1 }
      }
    }
    for file in sources {
      for (number, line) in SourceWords.lines(of: file.text).enumerated() {
        for name in declared(in: line) {
          places[name, default: []].append("\(file.path):\(number + 1): \(name)")
        }
      }
    }
    return places.filter { named[$0.key, default: 0] <= $0.value.count }.flatMap(\.value).sorted()
  }

  @Test func everyDeclarationIsNamed() throws {
    let others = try ["Tests", "Examples", "Benchmarks", "Fuzz/Targets", "Fuzz/Support"].flatMap {
      try ImportTests.files(of: $0)
    }.filter { !$0.path.hasPrefix("Tests/Unit/HouseTests/") }.map(\.text)
    let sources = try ImportTests.files(of: "Sources")
    #expect(sources.count > 500)
    let dead = Self.dead(in: sources, namedBy: others)
    for place in dead where !Self.reasons.keys.contains(where: { place.hasSuffix(": \($0)") }) {
      Issue.record("unused declaration: \(place)")
    }
    for name in Self.reasons.keys where !dead.contains(where: { $0.hasSuffix(": \(name)") }) {
      Issue.record("\(name) no longer needs a reason")
    }
  }

  @Test func aDeadDeclarationIsFound() {
    let source = """
      struct Used { let number: Int; var other: Int { 3 } }
      // other, lonely and numberless occur only in comments
      enum Kind { }
      case lonely
      case one(Int, (Int) -> Void), two
      case three = 3
      case .two: case let .one(x): helper()
      func helper() -> Used { .one }
      """
    let dead = Self.dead(in: [("A.swift", source)], namedBy: ["let a = Kind.two", "number"])
    #expect(dead == ["A.swift:1: other", "A.swift:4: lonely"])
  }
}
