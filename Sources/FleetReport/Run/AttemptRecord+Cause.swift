import OtaflashFleet

extension AttemptRecord {
  /// It says nothing of the device: whoever worked on it was interrupted, ended or called back.
  package var wasCutShort: Bool {
    switch ending {
    case .returned(.holderGone), .returned(.stopping), .returned(.recalled),
      .returned(.outcomeLost):
      true
    case .updated, .current, .failed, .skipped, .returned: false
    case nil: ended != nil
    }
  }

  /// What went wrong.
  package var cause: FailureCause? {
    switch ending {
    case .failed(let failure): FailureCause(failure)
    case .returned(let reason) where !wasCutShort: FailureCause(reason)
    case .skipped(let words): .skipped(words: words)
    case .updated, .current, .returned, nil: nil
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
