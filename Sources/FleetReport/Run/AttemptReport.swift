import OtaflashFirmware
import OtaflashFleet

/// One try on one device, from its claim to its end.
package struct AttemptReport: Hashable, Sendable {
  package enum Ending: Hashable, Sendable {
    /// Somebody works on it.
    case open
    case updated(UpdateFigures)
    case current(FirmwareVersion?)
    case failed(AttemptFailure)
    /// The campaign's owner left the device out, by a hook.
    case skipped(words: String)
    case returned(ReturnReason)
    /// Whoever had it was not heard of in time.
    case claimExpired
  }

  /// 1, 2, …; two tries have one number where the claim of the first ran out.
  package let number: Int
  /// The device was asked what it runs before anything was sent.
  package let look: Bool
  package let worker: String
  package internal(set) var adapter: String?
  package let began: FleetTime
  package internal(set) var placed: FleetTime?
  /// When it was about to be told to start the image.
  package internal(set) var activating: FleetTime?
  package internal(set) var ended: FleetTime?
  package internal(set) var ending = Ending.open

  init(number: Int, look: Bool, worker: String, began: FleetTime) {
    self.number = number
    self.look = look
    self.worker = worker
    self.began = began
  }

  /// It says nothing of the device: whoever worked on it was interrupted, ended or called back.
  package var wasCutShort: Bool {
    switch ending {
    case .claimExpired, .returned(.holderGone), .returned(.stopping), .returned(.recalled),
      .returned(.outcomeLost):
      true
    case .open, .updated, .current, .failed, .skipped, .returned: false
    }
  }

  /// What went wrong.
  package var cause: FailureCause? {
    switch ending {
    case .failed(let failure): FailureCause(failure)
    case .returned(let reason) where !wasCutShort: FailureCause(reason)
    case .skipped(let words): .skipped(words: words)
    case .open, .updated, .current, .returned, .claimExpired: nil
    }
  }
}

extension UpdateFigures {
  /// Bytes per second of the upload alone; `nil` where it took no time, or had nothing left to
  /// send.
  var bytesPerSecond: Double? {
    uploadMilliseconds > 0 && bytes > 0
      ? Double(bytes) * 1000 / Double(uploadMilliseconds) : nil
  }
}
