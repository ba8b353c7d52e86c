import Foundation
import Testing

/// Tests that the README of a source folder is a map of the folder: it names each file, and no file
/// that does not exist.
@Suite struct ReadmeTests {
  struct Readme: CustomTestStringConvertible {
    /// The path relative to `Sources`.
    let folder: String
    let names: [Substring]
    /// The paths relative to the folder, without `.swift`; files that a README further down covers
    /// are omitted.
    let files: [String]
    /// All folders below this one, including those with their own README.
    let folders: Set<String>

    var testDescription: String { folder }

    /// The files that no name covers. A name covers one file, `Beginning…` covers several, and
    /// `Folder/…` covers all files in a folder; each may have a path prefix.
    var missing: [String] {
      files.filter { file in !names.contains { Self.name($0, standsFor: file) } }
    }

    /// The names of files, folders and types that do not exist.
    func wrong(words: Set<Substring>) -> [Substring] {
      names.filter { name in
        if name.contains("/") || name.hasSuffix("…") {
          return name.first?.isUppercase == true && !isElsewhere(name)
            && !files.contains { Self.name(name, standsFor: $0) }
        }
        let isType = name.first?.isUppercase == true && name.contains(where: \.isLowercase)
        guard isType, SourceWords.words(in: name) == [name] else { return false }
        return !words.contains(name) && !folders.contains(String(name))
          && !files.contains { Self.name(name, standsFor: $0) }
      }
    }

    private func isElsewhere(_ name: Substring) -> Bool {
      let path = ImportTests.root.appending(path: name.replacing("…", with: "")).path
      return FileManager.default.fileExists(atPath: path)
    }

    static func name(_ name: Substring, standsFor file: String) -> Bool {
      let path = "/" + file
      guard name.hasSuffix("…") else { return path.hasSuffix("/" + name) }
      let beginning = "/" + name.dropLast()
      // The omitted part is the content of a folder, or the end of a file name.
      guard let found = path.range(of: beginning) else { return false }
      return beginning.hasSuffix("/") || !path[found.upperBound...].contains("/")
    }
  }

  /// The text between backticks, outside of code blocks.
  static func names(in text: String) -> [Substring] {
    text.split(separator: "```", omittingEmptySubsequences: false).enumerated()
      .filter { $0.offset.isMultiple(of: 2) }.flatMap { block in
        block.element.split(separator: "`", omittingEmptySubsequences: false).enumerated()
          .filter { !$0.offset.isMultiple(of: 2) }.map(\.element)
      }
  }

  static let readmes: [Readme] = {
    do { return try found() } catch { preconditionFailure("the sources cannot be read: \(error)") }
  }()

  static let words: Set<Substring> = {
    do {
      return try ImportTests.files(of: "Sources").reduce(into: []) { words, file in
        for line in SourceWords.lines(of: file.text) {
          words.formUnion(SourceWords.words(in: line))
        }
      }
    } catch { preconditionFailure("the sources cannot be read: \(error)") }
  }()

  private static func found() throws -> [Readme] {
    let base = ImportTests.root.appending(path: "Sources")
    let paths =
      FileManager.default.enumerator(atPath: base.path)?.compactMap { $0 as? String } ?? []
    let folders = paths.filter { $0.hasSuffix("/README.md") }.map { String($0.dropLast(10)) }
      .sorted()
    return try folders.map { folder in
      let below = folders.filter { $0.hasPrefix(folder + "/") }
      let files = paths.filter { path in
        path.hasPrefix(folder + "/") && path.hasSuffix(".swift")
          && !below.contains { path.hasPrefix($0 + "/") }
      }
      let text = try String(
        contentsOf: base.appending(path: folder + "/README.md"), encoding: .utf8)
      return Readme(
        folder: folder, names: names(in: text),
        files: files.map { String($0.dropFirst(folder.count + 1).dropLast(6)) }.sorted(),
        folders: Set(
          paths.filter { $0.hasPrefix(folder + "/") }.flatMap { path in
            path.dropFirst(folder.count + 1).split(separator: "/").dropLast().map(String.init)
          }))
    }
  }

  @Test(arguments: readmes) func everyFileIsNamed(_ readme: Readme) {
    #expect(readme.missing == [])
  }

  @Test(arguments: readmes) func everyNameExists(_ readme: Readme) {
    #expect(readme.wrong(words: Self.words) == [])
  }

  @Test func missingAndWrongNamesAreFound() {
    let text = """
      `One`, `Room/Two` and `Th…`, not ```Four```. `Gone` and `Ro/…` are not there, `Known` is a type, `Room` a
      folder, and `DEAD` and `off` are not names.
      """
    let readme = Readme(
      folder: "X", names: Self.names(in: text),
      files: ["Four", "One", "Room/Three", "Room/Two", "Room/Two+Words"], folders: ["Room"])
    #expect(readme.missing == ["Four", "Room/Two+Words"])
    #expect(readme.wrong(words: ["Known"]) == ["Gone", "Ro/…"])
  }
}
