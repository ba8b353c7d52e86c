import OtaflashATT
import Synchronization

/// Processing of received PDUs.
extension ATTBearer {
  /// Processes one PDU; returns the fault that ends the bearer, if any.
  func handle(_ bytes: [UInt8]) -> GATTFault? {
    let pdu: ATTPDU
    do throws(DecodeFault) {
      pdu = try ATTPDU(decoding: bytes)
    } catch {
      return .violation("the device sent a malformed PDU (\(error))")
    }
    switch pdu {
    case .response(let response):
      return complete(with: response)
    case .notification(let handle, let value):
      deliver(value, from: handle)
      return nil
    case .multipleNotification(let values):
      for entry in values { deliver(entry.value, from: entry.handle) }
      return nil
    case .indication(let handle, let value):
      deliver(value, from: handle)
      return owe(.confirmation)
    case .request(let request):
      return owe(.response(answer(to: request)))
    case .unknown(let opcode):
      let isCommand = opcode & 0x40 != 0
      return isCommand ? nil : owe(.response(.error(Self.refusal(of: opcode))))
    case .writeCommand, .signedWriteCommand, .confirmation:
      // The client runs no server, so commands have no effect. A confirmation without an indication
      // has no effect either (3.3.2).
      return nil
    }
  }

  private static func refusal(of opcode: UInt8) -> ErrorResponse {
    ErrorResponse(requestOpcode: opcode, handle: .none, code: .requestNotSupported)
  }

  private func owe(_ answer: ATTPDU) -> GATTFault? {
    answers.offer(answer)
      ? nil : .violation("the device sent too many requests without waiting for the responses")
  }

  /// Returns the response to a request of the peer. The peer may discover attributes, but the host
  /// has no attributes (3.4.1, and 3.4.2 for the MTU).
  private func answer(to request: ATTRequest) -> ATTResponse {
    func error(_ handle: AttributeHandle, _ code: ATTErrorCode) -> ATTResponse {
      .error(ErrorResponse(requestOpcode: request.opcode.rawValue, handle: handle, code: code))
    }
    switch request {
    case .exchangeMTU(let theirs):
      let ours = state.withLock { state in
        let ours = state.receiveMTU.announce()
        state.mtu = .negotiated(ours, ATTMTU(clamping: Int(theirs)))
        return ours
      }
      return .exchangeMTU(serverReceiveMTU: UInt16(ours.bytes))
    case .findInformation(let range), .findByTypeValue(let range, _, _),
      .readByType(let range, _), .readByGroupType(let range, _):
      return error(range.first, .attributeNotFound)
    case .read(let handle):
      return error(handle, .invalidHandle)
    case .readBlob, .readMultiple, .readMultipleVariable, .write, .prepareWrite,
      .executeWrite:
      return error(.none, .requestNotSupported)
    }
  }

  private func deliver(_ value: [UInt8], from handle: AttributeHandle) {
    let observers = state.withLock { state in
      if handle == state.serviceChangedHandle {
        state.attributesChanged += 1
        state.subscriptions.forgetHandles()
      }
      return state.subscriptions.observers(of: handle)
    }
    for observer in observers { observer.receive(value) }
  }

  private static func cause(_ fault: ATTFault) -> GATTFault {
    .violation("the device sent a response without a request (\(fault))")
  }

  private func complete(with response: ATTResponse) -> GATTFault? {
    let (outcome, cause, pending) = state.withLock {
      state -> (
        RequestSlot.OnResponse, GATTFault?,
        (handle: AttributeHandle, recipient: ResponseRecipient)?
      ) in
      let outcome = state.slot.received(response)
      // The slot is now unusable, so a request before `end` must fail. If the bearer has already
      // ended, the first cause is kept: a late response is not an error.
      if case .disconnect(let fault) = outcome { state.ended = state.ended ?? Self.cause(fault) }
      // The new MTU is now valid, even if no task is still waiting for the response.
      if case .complete(.exchangeMTU(let theirs)) = outcome {
        state.mtu = .negotiated(state.receiveMTU.announce(), ATTMTU(clamping: Int(theirs)))
      }
      state.isAbandoned = false
      return (outcome, state.ended, state.pending.take())
    }
    switch outcome {
    case .complete(.error(let error)):
      let handle = error.handle == .none ? pending?.handle ?? .none : error.handle
      pending?.recipient.take(.failure(.refused(AttributeReference(handle), error.code)))
    case .complete(let response):
      pending?.recipient.take(.success(response))
    case .disconnect(let fault):
      let cause = cause ?? Self.cause(fault)
      pending?.recipient.take(.failure(cause))
      return cause
    }
    requestGate.leave()
    return nil
  }
}
