import OtaflashATT

/// Ends an upload that makes no progress, and adapts the data path when sending goes back.
struct OTASetbacks {
  private let path: OTADataPath
  private var patience: Patience

  /// Starts the time limit.
  ///
  /// - Parameter payload: the content. A stream requires a longer limit, because no number in
  ///   Status increases while the device creates many pages from a few bytes.
  init(over path: OTADataPath, sending payload: OTAPayload) {
    self.path = path
    patience = Patience(
      with: path.client, path.context,
      longer: path.info.writeLimit(bytes: payload.silentImageBytes))
  }

  /// Checks the transfer after a message or a wait.
  ///
  /// - Throws: `.stalled` if the time without progress exceeds the limit.
  mutating func look(at transfer: inout OTATransfer) throws(UpdateFault) {
    if let ceiling = transfer.takeVerifiedCeiling() { path.limitChunks(to: ceiling) }
    let now = path.context.clock.now
    if let offset = transfer.takeSetback() {
      patience.fellBack(to: offset)
      patience.resends(at: now)
    }
    try patience.check(transfer.marks, at: now)
  }

  /// Adapts the next upload, if possible, after a fault ended the upload.
  func learn(from fault: UpdateFault, of transfer: OTATransfer) {
    switch fault {
    case .gatt(_, .transactionTimedOut): path.narrowWindow(after: transfer)
    // A device that refuses a patch has accepted writes of the last size.
    case .undeliverable: if let ceiling = transfer.reducedCeiling { path.limitChunks(to: ceiling) }
    default: break
    }
  }
}
