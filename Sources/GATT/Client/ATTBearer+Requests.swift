import OtaflashATT

/// Requests, and the link security that an attribute may require.
extension ATTBearer {
  /// Sends a request and waits for its response. Requests from several tasks are sent one at a
  /// time, in order. A cancelled caller stops waiting immediately; the request occupies the slot
  /// until the response arrives, as the protocol requires.
  package func request(
    _ request: ATTRequest, on handle: AttributeHandle = .none
  ) async throws(GATTFault) -> ATTResponse {
    try await self.request(encoded: request.encoded, opcode: request.opcode, on: handle)
  }

  /// Sends a request that the caller has encoded, and waits for its response.
  package func request(
    encoded: [UInt8], opcode: ATTOpcode, on handle: AttributeHandle
  ) async throws(GATTFault) -> ATTResponse {
    var asked: AttributeSecurity = []
    // Each pass requests a higher level than the previous pass, and only two levels exist.
    while true {
      do throws(GATTFault) {
        return try await exchange(encoded, opcode, handle)
      } catch .refused(let refusing, let code) {
        guard let wanted = link.security.union(asked).raised(after: code) else {
          throw .refused(refusing, code)
        }
        try await raiseSecurity(to: wanted, for: refusing, code)
        asked = wanted
      }
    }
  }

  /// Raises the link's security. No PDU is sent during the procedure.
  package func raiseSecurity(to wanted: AttributeSecurity) async throws(SecurityFault) {
    do throws(GATTFault) {
      // A link carries no PDUs while its security is being raised.
      try await enter(sendGate)
    } catch {
      throw error == .cancelled ? .cancelled : .linkLost(.closedLocally)
    }
    defer { sendGate.leave() }
    try await link.raiseSecurity(to: wanted)
  }

  private func raiseSecurity(
    to wanted: AttributeSecurity, for attribute: AttributeReference, _ code: ATTErrorCode
  ) async throws(GATTFault) {
    do throws(SecurityFault) {
      try await raiseSecurity(to: wanted)
    } catch {
      switch error {
      case .unsupported: throw .refused(attribute, code)
      case .cancelled: throw .cancelled
      case .linkLost(let loss): throw .linkLost(loss)
      case .notPaired, .permissionDenied, .bondForgotten, .pairingFailed, .insufficient, .timedOut:
        throw .insecure(attribute, code, error)
      }
    }
  }
}
