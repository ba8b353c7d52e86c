import Foundation
import Testing

/// Tests of documents that must agree with the program.
@Suite struct PaperTests {
  static func lines(of path: String) throws -> [Substring] {
    try String(contentsOf: ImportTests.root.appending(path: path), encoding: .utf8)
      .split(separator: "\n", omittingEmptySubsequences: false)
  }

  @Test func theNewestReleaseInTheChangelogIsTheVersionOfTheProgram() throws {
    let sections = try Self.lines(of: "CHANGELOG.md").filter { $0.hasPrefix("## ") }
    #expect(sections.first == "## [Unreleased]")
    let newest = try #require(
      sections.dropFirst().first?.firstMatch(of: /\[([0-9.]+)\] - \d{4}-\d\d-\d\d$/))
    let release = try Self.lines(of: "Sources/Console/Text/Release.swift").joined()
    #expect(release.contains("static let version = \"\(newest.1)\""))
  }

  /// A reader decides within half a minute whether to continue, so details are on other pages.
  @Test func theReadmeStaysShort() throws {
    #expect(try Self.lines(of: "README.md").count <= 121)
  }

  @Test(arguments: [
    "CHANGELOG.md", "CONTRIBUTING.md", "DESIGN.md", "README.md", "SECURITY.md",
    "Sources/README.md", "docs/commands.md", "docs/library.md",
  ])
  func linesStayShort(_ path: String) throws {
    for (index, line) in try Self.lines(of: path).enumerated() where !line.hasPrefix("|") {
      #expect(line.count <= 120, "\(path):\(index + 1)")
    }
  }

  @Test(arguments: [
    ("Sources", ["Sources"]), ("Tests", ["Tests", "Tests/Unit", "Tests/System", "Tests/Support"]),
  ])
  func theOverviewNamesEveryFolder(_ folder: String, _ parents: [String]) throws {
    let names = ReadmeTests.names(
      in: try Self.lines(of: "\(folder)/README.md").joined(separator: "\n"))
    let folders = try parents.flatMap { parent in
      try FileManager.default.contentsOfDirectory(
        at: ImportTests.root.appending(path: parent), includingPropertiesForKeys: [.isDirectoryKey]
      ).filter { try $0.resourceValues(forKeys: [.isDirectoryKey]).isDirectory == true }
    }
    #expect(folders.count > 10)
    for name in folders.map(\.lastPathComponent) where !names.contains(Substring(name)) {
      Issue.record("\(folder)/README.md does not mention \(name)")
    }
  }

  /// Outside of a test's own folder, any file may exist on a computer.
  @Test func noTestReliesOnAMissingFileOutsideItsFolder() throws {
    let base = ImportTests.root.appending(path: "Tests")
    let names = ["nonexistent", "nowhere", "no/such", "no-such", "tmp/no-such"].map { "/" + $0 }
    let openings = ["\"", "'", ":", " ", "="]
    let found = try FileManager.default.subpathsOfDirectory(atPath: base.path).filter { path in
      guard let content = FileManager.default.contents(atPath: base.appending(path: path).path)
      else { return false }
      let text = String(decoding: content, as: UTF8.self)
      return names.contains { name in openings.contains { text.contains($0 + name) } }
    }
    #expect(found.isEmpty, "\(found)")
  }

  /// A link to a moved file is broken.
  @Test func everyLinkLeadsToAFile() throws {
    let folders = ["", "docs/", "Sources/", "Tests/", "Examples/"]
    for folder in folders {
      let base = ImportTests.root.appending(path: folder)
      let isTree = folder == "Sources/" || folder == "Tests/"
      let names =
        isTree
        ? try FileManager.default.subpathsOfDirectory(atPath: base.path)
        : try FileManager.default.contentsOfDirectory(atPath: base.path)
      for name in names where name.hasSuffix(".md") && !name.contains(".docc/") {
        let text = try Self.lines(of: folder + name).joined(separator: "\n")
        let home = base.appending(path: name).deletingLastPathComponent()
        for match in text.matches(of: #/\]\(([^)#\s:]+)(#[^)]*)?\)/#) {
          let target = home.appending(path: String(match.1)).path
          #expect(
            FileManager.default.fileExists(atPath: target), "\(folder)\(name) links to \(match.1)")
        }
      }
    }
  }

  /// The targets of a Makefile that `make help` omits, because it prints only the first line of the
  /// comment directly above a target.
  static func undocumented(in lines: [Substring]) -> [Substring] {
    let phony =
      lines.joined(separator: "\n").replacing("\\\n", with: " ").split(separator: "\n")
      .first { $0.hasPrefix(".PHONY:") } ?? ""
    return phony.split(separator: " ").dropFirst().filter { target in
      let index = lines.firstIndex { $0.starts(with: target + ":") && !$0.contains("=") }
      let above = lines[..<(index ?? 0)].reversed().drop { $0.contains("=") && !$0.hasPrefix("#") }
      return above.first?.hasPrefix("# ") != true
    }
  }

  @Test func helpListsEveryCommand() throws {
    #expect(try Self.undocumented(in: Self.lines(of: "Makefile")) == [])
    let text =
      ".PHONY: one two \\\n  three\n# One.\none: a\n\ttwo\ntwo:\n\n# Three.\nX = 1\nthree: X = 2\nthree: a"
    #expect(
      Self.undocumented(in: text.split(separator: "\n", omittingEmptySubsequences: false))
        == ["two"])
  }
}
