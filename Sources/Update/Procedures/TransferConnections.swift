import OtaflashGATT

/// The connections of a file transfer. After a lost link, the transfer reconnects in the same way
/// as an update (`UpdateOptions.reconnection`). The count of attempts restarts only if new bytes
/// were acknowledged.
struct TransferConnections {
  let turn: PeripheralTurn
  let context: UpdateContext

  /// Performs `body` on one connection after the other, until `body` succeeds, the attempts are
  /// used up, or a fault occurs that a new connection cannot fix.
  ///
  /// - Parameters:
  ///   - open: connects to the service of the transfer.
  ///   - leave: ends the use of the service after a fault, within a bounded time.
  func run<Channel: Sendable, Value: Sendable>(
    open: () async throws(UpdateFault) -> Channel,
    leave: (Channel, UpdateFault) async -> Void = { _, _ in },
    _ body: (Channel) async throws(UpdateFault) -> Value
  ) async throws(UpdateFault) -> Value {
    defer { turn.disconnect() }
    var attempt = 0
    var furthest = 0
    while true {
      context.observe(.connecting(attempt: attempt + 1))
      var opened: Channel?
      do throws(UpdateFault) {
        let channel = try await open()
        opened = channel
        context.tally.connected()
        return try await body(channel)
      } catch {
        let fault = addingState(error)
        guard let loss = loss(of: fault) else {
          if let opened { await leave(opened, fault) }
          throw fault
        }
        let reached = context.tally.now.acknowledged
        attempt = reached > furthest ? 1 : attempt + 1
        furthest = max(furthest, reached)
        try await backOff(loss, attempt, fault)
      }
    }
  }

  private func backOff(
    _ loss: LinkLoss, _ attempt: Int, _ fault: UpdateFault
  ) async throws(UpdateFault) {
    turn.disconnect()
    guard
      let delay = context.options.reconnection.delay(
        beforeAttempt: attempt, random: context.randomFraction())
    else { throw fault }
    context.observe(
      .linkLost(
        reason: "\(loss)", acknowledged: context.tally.now.acknowledged, attempt: attempt,
        retryIn: delay))
    guard await context.clock.pause(for: delay) else {
      throw addingState(.gatt(.connect, .cancelled))
    }
  }

  private func loss(of fault: UpdateFault) -> LinkLoss? {
    if case .gatt(_, .linkLost(let loss)) = fault { return loss == .cancelled ? nil : loss }
    return fault.linkLoss(afterConnecting: context.tally.wasConnected)
  }

  /// Adds the number of bytes to a lost link or a cancellation, if the device keeps these bytes.
  private func addingState(_ fault: UpdateFault) -> UpdateFault {
    let counts = context.tally.now
    guard counts.isKept else { return fault }
    return switch fault {
    case .gatt(_, .cancelled), .gatt(_, .linkLost(.cancelled)), .couldNotConnect(.cancelled):
      .cancelled(resumable: true, acknowledged: counts.acknowledged)
    case .gatt(let stage, .linkLost(let loss)):
      .linkLost(loss, stage, resumable: true, acknowledged: counts.acknowledged)
    default: fault
    }
  }
}
