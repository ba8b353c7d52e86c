#if Sites
import OtaflashConsole

/// Checks the reason for a command, which the run records.
enum CommandReason {
  /// The maximum length, in Unicode scalars.
  static let maximum = 500

  static func checked(_ text: String?) throws(PageError) -> String {
    guard let text, let first = text.unicodeScalars.first, !first.properties.isWhitespace else {
      throw invalid("a reason is required, without a leading space; the run records it")
    }
    guard text.unicodeScalars.count <= maximum else {
      throw invalid("the reason has more than \(maximum) characters")
    }
    guard !text.unicodeScalars.contains(where: VisibleText.isHidden) else {
      throw invalid("the reason has a control character or a line break; write one line")
    }
    return text
  }

  private static func invalid(_ words: String) -> PageError {
    PageError(status: .unprocessableContent, code: "invalid-reason", words: words)
  }
}
#endif
