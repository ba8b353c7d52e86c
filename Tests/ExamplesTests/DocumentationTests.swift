import Foundation
import Testing

/// The library's page and the overviews show code that is compiled and tested: each snippet must
/// occur in an example, a test, or the client's manifest, line by line, with any indentation.
@Suite struct DocumentationTests {
  /// Each document, and the minimum number of its snippets.
  @Test(arguments: [
    ("docs/library.md", 4), (overview(of: "GATT"), 4), (overview(of: "Update"), 4),
    (overview(of: "Simulation"), 4), (overview(of: "BlueZ"), 4), (overview(of: "Firmware"), 1),
    (overview(of: "ATT"), 0), (overview(of: "Foundation"), 2), (overview(of: "State"), 0),
    (page("FirstCentral", of: "GATT"), 10), (page("AnotherSystem", of: "GATT"), 7),
    (page("TestYourUpdate", of: "Simulation"), 12),
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

  /// A snippet of the library's page is a complete file with its imports, or the first declaration
  /// of the manifest.
  @Test func everySnippetOfTheLibraryPageIsAFile() throws {
    let page = try text(of: Self.root.appending(path: "docs/library.md"))
    let files = try Self.swiftFiles(in: ["Tests/Client"]).map { Self.lines(try text(of: $0)) }
    for snippet in Self.snippets(in: page) {
      let isManifest = snippet.first?.hasPrefix("// swift-tools-version") == true
      #expect(
        files.contains { $0 == snippet || isManifest && $0.starts(with: snippet) },
        "no file is this snippet:\n\(snippet.joined(separator: "\n"))")
    }
  }

  /// The snippets of the porting guide come from the ports that the tests in C use.
  @Test(arguments: [("c", 5), ("dts", 1)])
  func everySnippetOfAPortIsInAPort(_ language: String, atLeast count: Int) throws {
    let guide = try text(of: Self.root.appending(path: "docs/your-device.md"))
    let ports = Self.root.appending(path: "Examples/Firmware")
    let sources = try FileManager.default.subpathsOfDirectory(atPath: ports.path())
      .filter { $0.hasSuffix(".c") || $0.hasSuffix(".overlay") }
      .map { Self.lines(try text(of: ports.appending(path: $0))) }
    let snippets = Self.snippets(in: guide, language)
    #expect(snippets.count >= count)
    for snippet in snippets where !sources.contains(where: { $0.contains(snippet) }) {
      Issue.record("no port has this snippet:\n\(snippet.joined(separator: "\n"))")
    }
  }

  /// The folders whose code is compiled and tested.
  private static let proven = [
    "Examples", "Tests/UpdateTests", "Tests/GATTTests", "Tests/SimulationTests",
    "Tests/FoundationTests", "Tests/CoreBluetoothTests", "Tests/Client",
  ]
  private static let root = URL(filePath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent()

  private static func overview(of target: String) -> String {
    page("Documentation", of: target)
  }

  private static func page(_ name: String, of target: String) -> String {
    "Sources/\(target)/Documentation.docc/\(name).md"
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

  /// The lines of each code block of a kind.
  private static func snippets(in markdown: String, _ kind: String = "swift") -> [[String]] {
    markdown.components(separatedBy: "```\(kind)\n").dropFirst().compactMap { rest in
      rest.components(separatedBy: "```").first.map(lines)
    }
  }
}
