import Glibc

/// The documents that are installed together with the program.
package enum InstalledDocuments {
  /// The folder of this project that contains the documents.
  private static let source = "docs/"

  /// Returns the text with installed paths in place of paths such as `docs/fleet.md`. A path stays
  /// if the document is not installed.
  ///
  /// - Parameter program: the path of the running program.
  package static func located(in text: String, for program: String? = running) -> String {
    guard let folder = program.flatMap(folder) else { return text }
    return text.split(separator: " ", omittingEmptySubsequences: false).map { word in
      guard word.hasPrefix(source), let end = endOfName(in: word) else {
        return String(word)
      }
      let path = folder + word[..<end].dropFirst(source.count)
      let installed = ["", ".gz"].map { path + $0 }.first { access($0, R_OK) == 0 }
      return installed.map { $0 + word[end...] } ?? String(word)
    }.joined(separator: " ")
  }

  /// Returns the index after `.md`; `nil` if the word does not contain `.md`.
  private static func endOfName(in word: Substring) -> Substring.Index? {
    word.indices.first { word[$0...].hasPrefix(".md") }.map { word.index($0, offsetBy: 3) }
  }

  /// Returns the folder of the documents for a program in `PREFIX/bin`; `nil` for a program in
  /// another folder.
  private static func folder(of program: String) -> String? {
    let parts = program.split(separator: "/")
    guard parts.count >= 2, parts[parts.count - 2] == "bin" else { return nil }
    return (parts.dropLast(2).map { "/" + $0 } + ["/share/doc/otaflash/"]).joined()
  }

  /// The path of the running program; `nil` if the kernel does not report it.
  package static let running: String? = {
    guard let path = realpath("/proc/self/exe", nil) else { return nil }
    defer { free(path) }
    return String(cString: path)
  }()
}
