import OtaflashFirmware

/// One try on one device, from its claim to its end.
public struct AttemptRecord: Hashable, Sendable {
  /// 1, 2, …; two tries have one number where the claim of the first ran out.
  public let number: Int
  /// The device was asked what it runs before anything was sent.
  public let verifyFirst: Bool
  public let worker: String
  public internal(set) var adapter: String?
  public let began: WallClockTime
  public internal(set) var placed: WallClockTime?
  /// When it was about to be told to start the image.
  public internal(set) var activating: WallClockTime?
  /// `nil` = somebody works on the device.
  public internal(set) var ended: WallClockTime?
  /// `nil` = it has not ended, or its claim expired.
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
