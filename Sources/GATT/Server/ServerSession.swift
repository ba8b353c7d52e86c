import OtaflashATT

/// An effect of a PDU on the server.
package enum ServerEffect: Equatable, Sendable {
  /// The server must send this response.
  case respond(ATTResponse)
  /// ATT_MTU changes to this value; the old ATT_MTU still applies to the preceding response.
  case mtuChanged(ATTMTU)
  /// The client configured the characteristic with this value handle.
  case configured(AttributeHandle, ClientConfiguration)
  /// The client confirmed an indication.
  case confirmed
}

/// The state of one client on a server (Core 5.4, Vol 3, Part F, 3.3 and 3.4): its MTU, prepared
/// writes and subscriptions. It processes PDUs and returns effects, and has no link, no clock and
/// no task.
package struct ServerSession: Sendable {
  /// The maximum number of prepared writes of one client; a further write is refused with 0x09.
  package static let preparedWritesMaximum = 64
  /// The longest attribute value (3.2.9).
  static let valueSizeMaximum = 512

  package let connection: ConnectionID
  /// The current ATT_MTU, for both directions.
  package private(set) var mtu = ATTMTU.default
  /// The current security of the link; the owner of the link must keep it up to date.
  package var security: AttributeSecurity
  private let receiveMTU: ATTMTU
  var preparedWrites: [PreparedWrite] = []
  let results = HandlerResults()
  private var configurations: [AttributeHandle: ClientConfiguration] = [:]

  struct PreparedWrite {
    let handle: AttributeHandle
    let offset: Int
    let part: [UInt8]
  }

  package init(
    connection: ConnectionID, receiveMTU: ATTMTU = .maximum, security: AttributeSecurity = []
  ) {
    self.connection = connection
    self.receiveMTU = receiveMTU
    self.security = security
  }

  /// The client's configuration of the characteristic with this value handle.
  package func configuration(of value: AttributeHandle) -> ClientConfiguration {
    configurations[value] ?? []
  }

  /// Processes one PDU. A request always causes exactly one `.respond`; a command never causes a
  /// `.respond`.
  ///
  /// Processing stops at an asynchronous handler (`pendingHandler`). In this case discard the
  /// effects, run the handler, and pass the same PDU again with the previous session and table.
  ///
  /// - Parameter isRepeated: whether the PDU is passed again, after its pending handler has run.
  package mutating func received(
    _ pdu: [UInt8], in table: inout AttributeTable, isRepeated: Bool = false
  ) -> [ServerEffect] {
    results.start(isRepeated: isRepeated)
    do throws(DecodeFault) {
      let decoded = try ATTPDU(decoding: pdu)
      guard pdu.count <= mtu.bytes else { return refuse(decoded.requestOpcode, .invalidPDU) }
      return take(decoded, in: &table)
    } catch {
      let isRequest = error.opcode.flatMap(ATTOpcode.init(rawValue:))?.isRequest ?? false
      return refuse(isRequest ? error.opcode : nil, .invalidPDU)
    }
  }

  /// The asynchronous handler at which processing of the last PDU stopped; `nil` if processing did
  /// not stop.
  package var pendingHandler: (@Sendable () async -> Void)? { results.pending }

  private mutating func take(_ pdu: ATTPDU, in table: inout AttributeTable) -> [ServerEffect] {
    switch pdu {
    case .request(let request):
      return answer(request, in: &table)
    case .writeCommand(let handle, let value):
      // The protocol has no response for a refused command (3.4.5.3).
      guard case .success(let effects) = write(value, to: handle, isCommand: true, in: &table)
      else { return [] }
      return effects
    case .confirmation:
      return [.confirmed]
    case .unknown(let opcode):
      return refuse(ATTOpcode.isCommand(opcode) ? nil : opcode, .requestNotSupported)
    case .signedWriteCommand, .response, .notification, .multipleNotification, .indication:
      // The server shares no signing key with clients, and sends no requests to them.
      return []
    }
  }

  private func refuse(_ opcode: UInt8?, _ code: ATTErrorCode) -> [ServerEffect] {
    guard let opcode else { return [] }
    return [.respond(.error(ErrorResponse(requestOpcode: opcode, handle: .none, code: code)))]
  }

  private mutating func answer(
    _ request: ATTRequest, in table: inout AttributeTable
  ) -> [ServerEffect] {
    let result = effects(of: request, in: &table)
    switch result {
    case .success(let effects): return effects
    case .failure(let refusal):
      let error = ErrorResponse(
        requestOpcode: request.opcode.rawValue, handle: refusal.handle, code: refusal.code)
      return [.respond(.error(error))]
    }
  }

  private mutating func effects(
    of request: ATTRequest, in table: inout AttributeTable
  ) -> Result<[ServerEffect], Refusal> {
    switch request {
    case .exchangeMTU(let clientReceiveMTU):
      return .success(exchangeMTU(clientReceiveMTU))
    case .findInformation(let range):
      return findInformation(range, in: table).map { [.respond($0)] }
    case .findByTypeValue(let range, let type, let value):
      return findByTypeValue(range, type, value, in: table).map { [.respond($0)] }
    case .readByType(let range, let type):
      return readByType(range, type, in: table).map { [.respond($0)] }
    case .readByGroupType(let range, let type):
      return readByGroupType(range, type, in: table).map { [.respond($0)] }
    case .read(let handle):
      return part(of: handle, from: 0, in: table).map { [.respond(.read(value: $0))] }
    case .readBlob(let handle, let offset):
      return part(of: handle, from: Int(offset), in: table).map { [.respond(.readBlob(part: $0))] }
    case .readMultiple(let handles):
      return readMultiple(handles, in: table).map { [.respond($0)] }
    case .readMultipleVariable(let handles):
      return readMultipleVariable(handles, in: table).map { [.respond($0)] }
    case .write(let handle, let value):
      return write(value, to: handle, isCommand: false, in: &table).map { [.respond(.write)] + $0 }
    case .prepareWrite(let handle, let offset, let part):
      return prepareWrite(part, to: handle, at: offset, in: table).map { [.respond($0)] }
    case .executeWrite(let flags):
      return executeWrite(flags, in: &table).map { [.respond(.executeWrite)] + $0 }
    }
  }

  /// Processes an Exchange MTU Request. A client sends this request once (3.4.2.1). However, Linux
  /// keeps a link for seconds after its process has ended, and the next process uses the same link.
  /// The server also answers the request of the next process; otherwise the MTU would stay at 23.
  private mutating func exchangeMTU(_ clientReceiveMTU: UInt16) -> [ServerEffect] {
    mtu = .negotiated(receiveMTU, ATTMTU(clamping: Int(clientReceiveMTU)))
    return [
      .respond(.exchangeMTU(serverReceiveMTU: UInt16(receiveMTU.bytes))), .mtuChanged(mtu),
    ]
  }

  /// Stores a configuration; returns no effect if nothing changed.
  mutating func configure(
    _ value: AttributeHandle, _ configuration: ClientConfiguration
  ) -> [ServerEffect] {
    guard configuration != self.configuration(of: value) else { return [] }
    configurations[value] = configuration
    return [.configured(value, configuration)]
  }

  func context(offset: Int = 0, isCommand: Bool = false) -> AttributeContext {
    AttributeContext(connection: connection, mtu: mtu, offset: offset, isCommand: isCommand)
  }
}

/// The error code of a refusal, and the attribute that caused the refusal.
struct Refusal: Error, Equatable {
  let handle: AttributeHandle
  let code: ATTErrorCode

  init(_ handle: AttributeHandle, _ code: ATTErrorCode) {
    self.handle = handle
    self.code = code
  }
}

extension ATTPDU {
  /// The opcode for an Error Response to this PDU; `nil` if the server must not respond to this
  /// PDU.
  fileprivate var requestOpcode: UInt8? {
    switch self {
    case .request(let request): request.opcode.rawValue
    case .unknown(let opcode): ATTOpcode.isCommand(opcode) ? nil : opcode
    case .response, .writeCommand, .signedWriteCommand, .notification, .multipleNotification,
      .indication, .confirmation:
      nil
    }
  }
}

extension ATTOpcode {
  fileprivate var isRequest: Bool {
    switch self {
    case .exchangeMTURequest, .findInformationRequest, .findByTypeValueRequest, .readByTypeRequest,
      .readRequest, .readBlobRequest, .readMultipleRequest, .readMultipleVariableRequest,
      .readByGroupTypeRequest, .writeRequest, .prepareWriteRequest, .executeWriteRequest:
      true
    case .errorResponse, .exchangeMTUResponse, .findInformationResponse, .findByTypeValueResponse,
      .readByTypeResponse, .readResponse, .readBlobResponse, .readMultipleResponse,
      .readMultipleVariableResponse, .readByGroupTypeResponse, .writeResponse,
      .prepareWriteResponse, .executeWriteResponse, .handleValueNotification,
      .handleValueIndication, .handleValueConfirmation, .multipleHandleValueNotification,
      .writeCommand, .signedWriteCommand:
      false
    }
  }
}
