/// A fault with words for people, and with what they can do about it. Programs read the case.
///
/// The words name no program and no command: an application shows them as they are, and offers the
/// `remedy` in its own way, as a button or as a command line.
public protocol ExplainedFault: Error, CustomStringConvertible {
  /// What happened: a clause without a full stop, such as `the device was not found`.
  var summary: String { get }

  /// Why, or what it means: one or more whole sentences.
  var explanation: String { get }

  /// What can be done; `nil` where nobody knows.
  var remedy: Remedy? { get }
}

extension ExplainedFault {
  /// All of it, in whole sentences.
  public var description: String { sentences }

  var sentences: String {
    let first = summary.prefix(1).uppercased() + summary.dropFirst() + "."
    let last = remedy.map { ["\($0)"] } ?? []
    return ([first, explanation] + last).joined(separator: " ")
  }
}
