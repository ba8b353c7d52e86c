import Foundation

/// The identifiers in a source file, without those in its comments.
enum SourceWords {
  /// The code of each line: the text before a comment, which starts the line or follows a space.
  static func lines(of text: String) -> [Substring] {
    text.utf8.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).map { line in
      var before = UInt8(ascii: " ")
      for index in line.indices {
        let isSlash = line[index] == UInt8(ascii: "/")
        if isSlash, before == UInt8(ascii: " "), line[index...].starts(with: "//".utf8) {
          return Substring(line[..<index])
        }
        before = line[index]
      }
      return Substring(line)
    }
  }

  static func words(in line: Substring) -> [Substring] {
    line.utf8.split { !isPart($0) }.map(Substring.init)
  }

  private static func isPart(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"):
      true
    default: false
    }
  }
}
