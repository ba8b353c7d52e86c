import OtaflashGATT

/// The connections of a file transfer over SMP.
struct SMPFileConnections {
  let path: String
  let turn: PeripheralTurn
  let context: UpdateContext

  /// Performs `body` on one connection after the other (`TransferConnections.run`).
  func run<Value: Sendable>(
    _ body: (SMPFileServer) async throws(UpdateFault) -> Value
  ) async throws(UpdateFault) -> Value {
    try await TransferConnections(turn: turn, context: context).run(
      open: { () async throws(UpdateFault) in try await SMPChannel(openedIn: turn, context) },
      leave: { await leave($0, after: $1) }
    ) { (channel) async throws(UpdateFault) in
      try await body(SMPFileServer(of: path, over: channel, context))
    }
  }

  /// Sends the rest of a request before the end of the connection, even if the transfer was
  /// cancelled. The device closes the file after a short time.
  private func leave(_ channel: SMPChannel, after fault: UpdateFault) async {
    let (clock, limit) = (context.clock, context.options.abortLimit)
    await shielded {
      do throws(UpdateFault) {
        try await withDeadline(clock.now.advanced(by: limit), on: clock, orThrow: fault) {
          () async throws(UpdateFault) in try await channel.finishMessage()
        }
      } catch {
        // The fault that ended the transfer is reported.
      }
    }
  }
}
