import OtaflashFirmware

/// One try on one device, from its claim to its end.
package struct AttemptRecord: Hashable, Sendable {
  /// 1, 2, …; two tries have one number where the claim of the first ran out.
  package let number: Int
  /// The device was asked what it runs before anything was sent.
  package let verifyFirst: Bool
  package let worker: String
  package internal(set) var adapter: String?
  package let began: WallClockTime
  package internal(set) var placed: WallClockTime?
  /// When it was about to be told to start the image.
  package internal(set) var activating: WallClockTime?
  /// `nil` = somebody works on the device.
  package internal(set) var ended: WallClockTime?
  /// `nil` = it has not ended, or its claim expired.
  package internal(set) var ending: AttemptEnding?

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
