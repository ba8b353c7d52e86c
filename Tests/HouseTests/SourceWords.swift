import Foundation

/// The identifiers of a source, without what its comments say.
enum SourceWords {
  /// The code of each line: what stands before a comment of its own, or behind a space and `//`.
  static func lines(of text: String) -> [Substring] {
    text.split(separator: "\n", omittingEmptySubsequences: false).map { line in
      guard let comment = line.range(of: "//"),
        comment.lowerBound == line.startIndex || line[line.index(before: comment.lowerBound)] == " "
      else { return line }
      return line[..<comment.lowerBound]
    }
  }

  static func words(in line: Substring) -> [Substring] {
    line.utf8.split { !isPart($0) }.map(Substring.init)
  }

  private static func isPart(_ octet: UInt8) -> Bool {
    switch octet {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"):
      true
    default: false
    }
  }
}
