/// What became of one hook, as it is recorded.
public struct HookOutcome: Hashable, Sendable, Codable {
  public enum End: Hashable, Sendable, Codable {
    /// 0 is success.
    case exited(code: Int)
    case killed(signal: Int)
    case timedOut
    /// This side ended it, since the run was interrupted or the claim was lost.
    case interrupted
    /// There is no such program, or it may not be run: says nothing about a device.
    case notRun(words: String)
  }

  /// In bytes: what of its output is kept, the end of it.
  package static let outputMaximum = 4096

  public var end: End
  /// The end of what it wrote to its standard output and standard error.
  public var output: String
  /// Bytes of output that were dropped before it.
  public var dropped: Int
  public var milliseconds: Int64

  public init(_ end: End, output: String = "", dropped: Int = 0, milliseconds: Int64 = 0) {
    self.end = end
    self.output = output
    self.dropped = dropped
    self.milliseconds = milliseconds
  }

  public var isSuccess: Bool { end == .exited(code: 0) }

  /// For people: a clause without a subject.
  public var words: String {
    switch end {
    case .exited(0): "succeeded"
    case .exited(let code): "ended with \(code)" + lastLine
    case .killed(let signal): "was ended by signal \(signal)" + lastLine
    case .timedOut: "took longer than it may" + lastLine
    case .interrupted: "was interrupted"
    case .notRun(let words): "could not be run: \(words)"
    }
  }

  /// What it said last, which is where commands say what is wrong.
  private var lastLine: String {
    let lines = output.split(whereSeparator: \.isNewline)
    guard let last = lines.last(where: { !$0.allSatisfy(\.isWhitespace) }) else { return "" }
    return ": " + last.prefix(Self.wordsMaximum)
  }

  /// In characters, of a line that is told with the outcome.
  private static let wordsMaximum = 200
}
