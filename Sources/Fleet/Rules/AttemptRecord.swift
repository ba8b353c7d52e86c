import OtaflashFirmware

/// One try on one device, from its claim to its end.
public struct AttemptRecord: Hashable, Sendable {
  /// 1, 2, …; the attempt after an expired claim has the same number.
  public let number: Int
  /// Whether the device was asked for its running image before the first byte was sent.
  public let verifyFirst: Bool
  public let worker: String
  public internal(set) var adapter: String?
  public let began: WallClockTime
  public internal(set) var placed: WallClockTime?
  /// The offset at which the attempt started to send the image; `nil` = nothing was sent, or an
  /// older version recorded the attempt.
  public internal(set) var transferOffset: Int?
  /// The time before the activation command.
  public internal(set) var activating: WallClockTime?
  /// `nil` = a worker updates the device.
  public internal(set) var ended: WallClockTime?
  /// `nil` = the attempt has not ended, or its claim expired.
  public internal(set) var ending: AttemptEnding?

  init(number: Int, verifyFirst: Bool, worker: String, began: WallClockTime) {
    self.number = number
    self.verifyFirst = verifyFirst
    self.worker = worker
    self.began = began
  }

  mutating func end(_ ending: AttemptEnding?, at moment: WallClockTime) {
    self.ending = ending
    ended = moment
  }
}
