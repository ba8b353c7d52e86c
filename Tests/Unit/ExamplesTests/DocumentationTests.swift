import Foundation
import Testing

/// Tests that the library's page and the pages of the modules show code that is compiled and
/// tested: complete files with their imports, and a few fragments of files that the page mentions.
@Suite struct DocumentationTests {
  /// The pages of the modules, with the minimum numbers of their files and fragments.
  private static let pages = [
    Page("Documentation", of: "ATT", files: 0, fragments: 0),
    Page("Documentation", of: "BlueZ", files: 2, fragments: 0),
    Page("Documentation", of: "Firmware", files: 2, fragments: 0),
    Page("Documentation", of: "Fleet", files: 0, fragments: 0),
    Page("Documentation", of: "FleetEngine", files: 0, fragments: 0),
    Page("Documentation", of: "Foundation", files: 1, fragments: 0),
    Page("Documentation", of: "GATT", files: 13, fragments: 0),
    Page("FirstCentral", of: "GATT", files: 9, fragments: 2),
    Page("AnotherSystem", of: "GATT", files: 2, fragments: 5),
    Page("Documentation", of: "Simulation", files: 3, fragments: 0),
    Page("TestYourUpdate", of: "Simulation", files: 9, fragments: 1),
    Page("Documentation", of: "State", files: 0, fragments: 0),
    Page("Documentation", of: "Update", files: 3, fragments: 3),
  ]

  @Test func everyPageIsTested() throws {
    let names = try FileManager.default.subpathsOfDirectory(
      atPath: Self.root.appending(path: "Sources").path())
    let pages = names.filter { $0.contains(".docc/") && $0.hasSuffix(".md") }.map {
      "Sources/\($0)"
    }
    #expect(pages.sorted() == Self.pages.map(\.path).sorted())
  }

  /// A snippet with imports is a compiled file from its first import to its end.
  @Test(arguments: pages) fileprivate func everySnippetWithImportsIsAFile(_ page: Page) throws {
    let files = try Self.swiftFiles(in: Self.proven).map { file in
      Array(Self.lines(try text(of: file)).drop { !Self.isImport($0) })
    }
    let snippets = Self.snippets(in: try text(of: page)).filter(Self.isFile)
    #expect(snippets.count >= page.files)
    for snippet in snippets {
      #expect(files.contains(snippet), "no file is this:\n\(snippet.joined(separator: "\n"))")
    }
  }

  @Test(arguments: pages) fileprivate func theFirstSnippetIsAFile(_ page: Page) throws {
    let first = Self.snippets(in: try text(of: page)).first
    #expect(first.map(Self.isFile) ?? true, "it has no imports:\n\(first ?? [])")
  }

  /// A snippet without imports is part of a file that the page mentions before it, with any
  /// indentation.
  @Test(arguments: pages) fileprivate func everyFragmentIsFromAFileOfThePage(_ page: Page) throws {
    let files = try Self.swiftFiles(in: Self.proven)
    var count = 0
    var before = ""
    for part in try text(of: page).components(separatedBy: "```swift\n") {
      defer { before += part }
      let snippet = part.components(separatedBy: "```").first.map(Self.lines) ?? []
      guard !before.isEmpty, !Self.isFile(snippet) else { continue }
      count += 1
      let named = files.filter { before.contains("\($0.lastPathComponent)`") }
      #expect(
        try named.contains { Self.lines(try text(of: $0)).contains(snippet) },
        "no file that the page names has this:\n\(snippet.joined(separator: "\n"))")
    }
    #expect(count >= page.fragments)
  }

  /// A snippet of the library's page is a complete file with its imports, or the start of the
  /// manifest.
  @Test func everySnippetOfTheLibraryPageIsAFile() throws {
    let page = try text(of: Self.root.appending(path: "docs/library.md"))
    let client = try Self.swiftFiles(in: ["Tests/System/Client"])
    let files = try client.map { Self.lines(try text(of: $0)) }
    for snippet in Self.snippets(in: page) {
      let isManifest = snippet.first?.hasPrefix("// swift-tools-version") == true
      #expect(
        files.contains { $0 == snippet || isManifest && $0.starts(with: snippet) },
        "no file is this snippet:\n\(snippet.joined(separator: "\n"))")
    }
  }

  /// The C snippets of the guides are parts of C files in `Examples/Firmware` and `zephyr`.
  @Test(arguments: [("your-device.md", 5), ("mcuboot.md", 1)])
  func everySnippetOfAPortIsInAPort(_ page: String, atLeast count: Int) throws {
    let guide = try text(of: Self.root.appending(path: "docs/\(page)"))
    let sources = try ["Examples/Firmware", "zephyr"].flatMap { folder in
      let ports = Self.root.appending(path: folder)
      return try FileManager.default.subpathsOfDirectory(atPath: ports.path())
        .filter { $0.hasSuffix(".c") }
        .map { Self.lines(try text(of: ports.appending(path: $0))) }
    }
    let snippets = Self.snippets(in: guide, "c")
    #expect(snippets.count >= count)
    for snippet in snippets where !sources.contains(where: { $0.contains(snippet) }) {
      Issue.record("no port has this snippet:\n\(snippet.joined(separator: "\n"))")
    }
  }

  /// The folders whose code is compiled and tested.
  private static let proven = [
    "Examples", "Tests/Unit/UpdateTests", "Tests/Unit/GATTTests", "Tests/Unit/SimulationTests",
    "Tests/Unit/FoundationTests", "Tests/Unit/CoreBluetoothTests", "Tests/System/Client",
  ]
  private static let root = URL(filePath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

  private static func isImport(_ line: String) -> Bool { line.hasPrefix("import ") }

  private static func isFile(_ snippet: [String]) -> Bool { snippet.first.map(isImport) ?? false }

  private func text(of page: Page) throws -> String {
    try text(of: Self.root.appending(path: page.path))
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

/// A page of a module's documentation.
private struct Page: Sendable, CustomTestStringConvertible {
  let path: String
  let files: Int
  let fragments: Int

  init(_ name: String, of target: String, files: Int, fragments: Int) {
    path = "Sources/\(target)/Documentation.docc/\(name).md"
    self.files = files
    self.fragments = fragments
  }

  var testDescription: String { path }
}
