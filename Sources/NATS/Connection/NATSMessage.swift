#if Sites
/// A message from or to the server.
package struct NATSMessage: Hashable, Sendable {
  package var subject: String
  /// The subject for the reply; for a delivered job, the subject for its acknowledgement.
  package var reply: String?
  package var headers: [String: String]
  package var payload: [UInt8]

  package init(
    subject: String, reply: String? = nil, headers: [String: String] = [:], payload: [UInt8] = []
  ) {
    self.subject = subject
    self.reply = reply
    self.headers = headers
    self.payload = payload
  }

  /// The status of a message without content, such as 503 for "no responders".
  var status: Int? { headers["Status"].flatMap { Int($0) } }
  /// The text of the status.
  var statusText: String { headers["Description"] ?? "" }
}

/// Checks of subjects and names before they are sent. The server would interpret text after a space
/// or a line break as another field or another command of the protocol.
enum SubjectName {
  static let lengthMaximum = 512

  /// Throws `.invalidName` unless the text is a subject without wildcards.
  static func check(subject: String) throws(NATSFault) {
    try check(subject, isValid: { $0 > 0x20 && $0 != 0x7F && $0 != 0x2A && $0 != 0x3E })
  }

  /// Throws `.invalidName` unless the text is a subject, possibly with wildcards.
  static func check(filter: String) throws(NATSFault) {
    try check(filter, isValid: { $0 > 0x20 && $0 != 0x7F })
  }

  /// Throws `.invalidName` unless the text can be one token of a subject.
  static func check(token: String) throws(NATSFault) {
    try check(subject: token)
    guard !token.utf8.contains(UInt8(ascii: ".")) else { throw .invalidName(token) }
  }

  private static func check(_ text: String, isValid: (UInt8) -> Bool) throws(NATSFault) {
    let bytes = text.utf8
    let tokens = bytes.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
    guard bytes.count <= lengthMaximum, bytes.allSatisfy(isValid),
      tokens.allSatisfy({ !$0.isEmpty })
    else { throw .invalidName(text) }
  }
}
#endif
