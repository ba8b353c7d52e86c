/// The recorded outcome of one hook.
public struct HookOutcome: Hashable, Sendable, Codable {
  /// The way in which a hook ended.
  public enum End: Hashable, Sendable, Codable {
    /// The hook exited with this code; 0 means success.
    case exited(code: Int)
    /// A signal terminated the hook.
    case killed(signal: Int)
    /// The hook exceeded its time limit.
    case timedOut
    /// The host ended the hook, because the run was interrupted or the claim was lost.
    case interrupted
    /// The program does not exist or is not executable; this outcome is not a failure of a device.
    case notRun(words: String)
  }

  /// The maximum length of the stored end of the output, in bytes.
  package static let outputMaximum = 4096

  /// The way in which the hook ended.
  public var end: End
  /// The last part of the hook's standard output and standard error.
  public var output: String
  /// The number of output bytes dropped before `output`.
  public var dropped: Int
  /// The duration of the hook in milliseconds.
  public var milliseconds: Int64

  /// Creates an outcome.
  public init(_ end: End, output: String = "", dropped: Int = 0, milliseconds: Int64 = 0) {
    self.end = end
    self.output = output
    self.dropped = dropped
    self.milliseconds = milliseconds
  }

  /// Whether the hook exited with code 0.
  public var isSuccess: Bool { end == .exited(code: 0) }

  /// The outcome as a clause without a subject.
  public var words: String {
    switch end {
    case .exited(0): "succeeded"
    case .exited(let code): "exited with code \(code)" + lastLine
    case .killed(let signal): "was terminated by signal \(signal)" + lastLine
    case .timedOut: "exceeded its time limit" + lastLine
    case .interrupted: "was interrupted"
    case .notRun(let words): "could not be started: \(words)"
    }
  }

  /// The last line of output, in which commands usually report their error.
  private var lastLine: String {
    let lines = output.split(whereSeparator: \.isNewline)
    guard let last = lines.last(where: { !$0.allSatisfy(\.isWhitespace) }) else { return "" }
    return ": " + last.prefix(Self.wordsMaximum)
  }

  /// The maximum length of the output line in an outcome, in characters.
  private static let wordsMaximum = 200
}
