import OtaflashFleet

extension AttemptRecord {
  /// Whether the worker was interrupted, ended or lost its claim, the coordinator cancelled the
  /// attempt, or the outcome was lost. Such an attempt is no evidence about the device.
  package var wasCutShort: Bool {
    switch ending {
    case .returned(.holderGone), .returned(.stopping), .returned(.recalled),
      .returned(.claimLost), .returned(.outcomeLost):
      true
    case .updated, .current, .failed, .skipped, .returned: false
    case nil: ended != nil
    }
  }

  /// The cause of a failed, returned or skipped attempt; `nil` = the attempt succeeded, is in
  /// progress, or was cut short.
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
  /// The bytes per second of the upload only; `nil` if the upload had no duration or no bytes.
  var bytesPerSecond: Double? {
    uploadMilliseconds > 0 && bytes > 0
      ? Double(bytes) * 1000 / Double(uploadMilliseconds) : nil
  }
}
