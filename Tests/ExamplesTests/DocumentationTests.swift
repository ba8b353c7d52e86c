import Foundation
import Testing

/// The README and the overviews show code that is compiled and run: each of their snippets must be
/// found, line by line and whatever its indentation, in an example, a test, or the client's manifest.
@Suite struct DocumentationTests {
  /// Each document, and how many snippets it has at least.
  @Test(arguments: [
    ("README.md", 3), (overview(of: "GATT"), 4), (overview(of: "Update"), 4),
    (overview(of: "Simulation"), 4), (overview(of: "BlueZ"), 4), (overview(of: "Firmware"), 1),
    (overview(of: "ATT"), 0), (overview(of: "State"), 0),
  ])
  func everySnippetIsCodeThatRuns(_ document: String, atLeast count: Int) throws {
    let overview = try text(of: Self.root.appending(path: document))
    let sources = try Self.swiftFiles(in: Self.proven).map { file in
      try Self.lines(text(of: file))
    }
    let snippets = Self.snippets(in: overview)
    #expect(snippets.count >= count)
    for snippet in snippets {
      #expect(
        sources.contains { $0.contains(snippet) },
        "no example has this snippet:\n\(snippet.joined(separator: "\n"))")
    }
  }

  /// Where code is compiled and run.
  private static let proven = [
    "Examples", "Tests/UpdateTests", "Tests/GATTTests", "Tests/Client",
  ]
  private static let root = URL(filePath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent()

  private static func overview(of target: String) -> String {
    "Sources/\(target)/Documentation.docc/Documentation.md"
  }

  private func text(of file: URL) throws -> String {
    String(decoding: try Data(contentsOf: file), as: UTF8.self)
  }

  private static func swiftFiles(in folders: [String]) throws -> [URL] {
    try folders.flatMap { folder in
      try FileManager.default.subpathsOfDirectory(atPath: root.appending(path: folder).path())
        .filter { $0.hasSuffix(".swift") }
        .map { root.appending(path: folder).appending(path: $0) }
    }
  }

  private static func lines(_ text: String) -> [String] {
    text.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }
      .filter { !$0.isEmpty }
  }

  /// The lines between fences of the Swift kind.
  private static func snippets(in markdown: String) -> [[String]] {
    markdown.components(separatedBy: "```swift\n").dropFirst().compactMap { rest in
      rest.components(separatedBy: "```").first.map(lines)
    }
  }
}
