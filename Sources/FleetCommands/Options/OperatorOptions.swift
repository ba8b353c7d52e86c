#if Fleet
import ArgumentParser
import Glibc
import OtaflashConsole
import OtaflashFleet

/// The operator of a command and the reason, both as stated by the operator.
struct OperatorOptions: ParsableArguments, Sendable {
  @Option(
    name: .customLong("as"),
    help: ArgumentHelp(
      "The operator's name in the record (default: the user and the host).", valueName: "name"),
    transform: OperatorText.parseName)
  var name: String?

  @Option(
    name: .long, help: ArgumentHelp("The reason, which is recorded.", valueName: "text"),
    transform: OperatorText.parseReason)
  var reason: String?

  func action(_ kind: OperatorAction.Kind) -> OperatorAction {
    OperatorAction(kind, by: name ?? OperatorText.account, reason: reason)
  }
}

/// One line of text from the operator.
package enum OperatorText {
  /// The maximum lengths, in characters.
  private static let nameLimit = 100
  private static let reasonLimit = 500

  static func parseName(_ text: String) throws -> String { try parse(text, limit: nameLimit) }

  static func parseReason(_ text: String) throws -> String { try parse(text, limit: reasonLimit) }

  private static func parse(_ text: String, limit: Int) throws -> String {
    guard text.contains(where: { !$0.isWhitespace }) else {
      throw ValidationError("the text is empty")
    }
    guard text.count <= limit else {
      throw ValidationError(
        "the text has \(text.count) characters; the maximum is \(limit)")
    }
    guard !text.unicodeScalars.contains(where: VisibleText.isHidden) else {
      throw ValidationError("the text has a control character or a line break; write one line")
    }
    return text
  }

  /// The user and the host of this process: `anna@line-3`.
  package static var account: String {
    let user = getpwuid(getuid()).flatMap { entry in
      entry.pointee.pw_name.map { String(cString: $0) }
    }
    let name = user ?? "user \(getuid())"
    var host = [CChar](repeating: 0, count: Int(HOST_NAME_MAX) + 1)
    guard gethostname(&host, host.count - 1) == 0 else { return name }
    let end = host.firstIndex(of: 0) ?? host.endIndex
    return name + "@" + String(decoding: host[..<end].map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }
}
#endif
