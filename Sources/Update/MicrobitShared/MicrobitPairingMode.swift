import OtaflashGATT

/// The check that a micro:bit runs its program after the complete update.
extension MicrobitChannel {
  /// Checks that the device does not wait for a script. After an interrupted transfer of a script,
  /// it starts in pairing mode until a script was sent completely, even if the complete program was
  /// replaced in the meantime (codal-microbit-v2 and microbit-dal, `flashIncomplete`).
  static func checkThatProgramRuns(
    on client: GATTClient, clock: any LinkClock
  ) async throws(UpdateFault) {
    let channel: MicrobitChannel?
    do throws(GATTFault) { channel = try await open(on: client, clock: clock) } catch {
      throw .gatt(.reconnect, error)
    }
    guard let channel, try await channel.status(.reconnect) == .pairing else { return }
    throw .declined(.reconnect, .microbitWaitsForScript)
  }
}

extension ProtocolRefusal {
  /// The device does not answer requests.
  static let microbitSilent = ProtocolRefusal(
    code: "no answer", meaning: "it did not answer a request of the Partial Flashing Service",
    advice: "Hold A and B, press reset, and release A and B when the display is filled; then try "
      + "again.", kind: .protocolBroken, remedy: .restartDevice)

  /// The complete program was replaced, but the device waits for a script.
  static let microbitWaitsForScript = {
    var refusal = ProtocolRefusal(
      code: "script",
      meaning: "it has the complete program, but waits for a script, because an earlier transfer "
        + "was interrupted",
      advice: "The program starts after its script was sent.", kind: .rejected, remedy: .tryAgain)
    refusal.needsAnotherPass = true
    return refusal
  }()
}
