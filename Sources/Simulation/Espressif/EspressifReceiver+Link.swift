/// The reactions to a disconnection, and to the start of a transfer after the erase.
extension EspressifReceiver {
  mutating func started() {
    switch settings.variant {
    case .raw: rawStarted()
    case .nimbleOTA:
      isStarted = true
      answerCommand(1, 0)
    case .nimble, .bluedroid, .bleOTA: break
    }
  }

  /// Handles the end of a connection. Only NimBLEOta has a hook for it.
  mutating func disconnected() {
    answers.removeAll()
    guard settings.variant == .nimbleOTA, !settings.keepsTransfer, restart == nil else { return }
    // The task of the Bluetooth host handles the event after its current write.
    hasLeft = block != nil
    if !hasLeft { abortNimbleOTA() }
  }

  /// Whether an interrupted transfer ends after `keepLimit` without a new connection.
  var isKeeping: Bool {
    settings.variant == .nimbleOTA && settings.keepsTransfer && isStarted && restart == nil
  }
}
