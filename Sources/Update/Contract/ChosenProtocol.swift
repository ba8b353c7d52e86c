import OtaflashGATT

/// The protocol of an update, with the state that it retains from one connection to the next.
struct ChosenProtocol: Sendable {
  private let openSession:
    @Sendable (GATTClient, UpdateContext) async throws(UpdateFault) -> any UpdateSession

  /// - Parameter alternative: the other protocol that the device offers, if the session may leave
  ///   the update to it.
  init<Session: UpdateSession>(_ session: Session.Type, alternative: UpdateProtocol? = nil) {
    let retained = RetainedState<Session.Retained>()
    openSession = { (client, context) async throws(UpdateFault) -> any UpdateSession in
      var context = context
      context.alternative = alternative
      return try await Session.open(on: client, context, retained)
    }
  }

  func open(
    on client: GATTClient, _ context: UpdateContext
  ) async throws(UpdateFault) -> any UpdateSession {
    try await openSession(client, context)
  }
}
