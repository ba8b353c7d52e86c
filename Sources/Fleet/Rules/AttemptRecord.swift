import OtaflashFirmware

/// The record of one attempt on a device, from its claim to its end.
public struct AttemptRecord: Hashable, Sendable {
  /// The number of the attempt: 1, 2, … An attempt after an expired claim has the same number.
  public let number: Int
  /// Whether the attempt read the running image of the device before it sent the first byte.
  public let verifyFirst: Bool
  /// The worker that claimed the attempt.
  public let worker: String
  /// The adapter; `nil` = no adapter was chosen.
  public internal(set) var adapter: String?
  /// The time of the claim.
  public let began: WallClockTime
  /// The time at which the adapter was chosen; `nil` = no adapter was chosen.
  public internal(set) var placed: WallClockTime?
  /// The offset at which the attempt started to send the image; `nil` = nothing was sent, or an
  /// older version recorded the attempt.
  public internal(set) var transferOffset: Int?
  /// The time immediately before the activation command; `nil` = no command was about to be sent.
  public internal(set) var activating: WallClockTime?
  /// The end of the attempt; `nil` = a worker is updating the device.
  public internal(set) var ended: WallClockTime?
  /// The outcome of the attempt; `nil` = the attempt has not ended, or its claim expired.
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
