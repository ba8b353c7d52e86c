import OtaflashGATT

/// One end of a simulated connection.
package final class SimulatedLink: Link {
  private let connection: SimulatedConnection
  private let role: ConnectionRole

  /// The maximum PDU size of a kernel L2CAP socket.
  package let maximumPDUSize = 672

  /// The parameters of the model, all of which are known exactly.
  package var facts: LinkFacts {
    let model = connection.model
    return LinkFacts(
      phy: model.phy, connectionInterval: model.interval.duration,
      linkLayerPayload: model.payloadMaximum, controllerBuffers: model.controllerBuffers)
  }

  package var security: AttributeSecurity { connection.security }

  /// Pairs the two sides without user interaction.
  package func raiseSecurity(to wanted: AttributeSecurity) async throws(SecurityFault) {
    try await connection.secure(wanted)
  }

  init(connection: SimulatedConnection, role: ConnectionRole) {
    self.connection = connection
    self.role = role
  }

  package func send(_ pdu: [UInt8]) async throws(LinkLoss) {
    guard pdu.count <= maximumPDUSize else {
      throw .tooLarge(bytes: pdu.count, limit: maximumPDUSize)
    }
    while true {
      guard !Task.isCancelled else { throw .cancelled }
      switch connection.submit(pdu, from: role) {
      case .accepted: return
      case .full: await connection.roomInQueue(of: role)
      case .lost(let loss): throw loss
      }
    }
  }

  package func receive() async throws(LinkLoss) -> [UInt8] {
    while true {
      switch connection.takeReceived(by: role) {
      case .pdu(let pdu): return pdu
      case .lost(let loss): throw loss
      case .nothing:
        guard !Task.isCancelled else { throw .cancelled }
        await connection.arrival(at: role)
      }
    }
  }

  package func close() { connection.end(role, with: .closedLocally) }
}
