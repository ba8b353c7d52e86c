/// A fault with a readable message and a remedy. Programs evaluate the case.
///
/// The message does not mention any program or command: an application shows the message unchanged,
/// and offers the `remedy` in its own form, such as a button or a command line.
public protocol ExplainedFault: Error, CustomStringConvertible {
  /// The failure: a clause without a period, such as `the device was not found`.
  var summary: String { get }

  /// The cause or the meaning: one or more complete sentences.
  var explanation: String { get }

  /// The correction; `nil` if no correction is known.
  var remedy: Remedy? { get }
}

extension ExplainedFault {
  /// The complete message, in complete sentences.
  public var description: String { sentences }

  var sentences: String {
    let first = summary.prefix(1).uppercased() + summary.dropFirst() + "."
    let last = remedy.map { ["\($0)"] } ?? []
    return ([first, explanation] + last).joined(separator: " ")
  }
}
