/// One SMP message: a header, and a CBOR map as its body.
package struct SMPMessage: Equatable, Sendable {
  package var version: SMPVersion
  package var operation: SMPOperation
  package var group: SMPGroup
  package var number: UInt8
  package var sequence: UInt8
  package var flags: UInt8 = 0
  package var body: CBORMap

  /// Decodes a message that fills `bytes`.
  package init(decoding bytes: [UInt8]) throws(SMPDecodeFault) {
    let header = try SMPHeader(decoding: bytes)
    let payload = bytes[SMPHeader.size...]
    guard payload.count == header.bodyLength else {
      throw .wrongLength(said: header.bodyLength, found: payload.count)
    }
    let item: CBORItem
    do throws(CBORFault) { item = try CBORItem(decoding: payload) } catch { throw .body(error) }
    guard case .map(let body) = item else { throw .bodyIsNoMap }
    version = header.version
    operation = header.operation
    group = header.group
    number = header.command
    sequence = header.sequence
    flags = header.flags
    self.body = body
  }

  /// Creates a request message.
  package init<Request: SMPRequest>(
    _ request: Request, sequence: UInt8, version: SMPVersion = .v2
  ) {
    let command = Request.command
    self.version = version
    operation = command.operation
    group = command.group
    number = command.number
    self.sequence = sequence
    body = request.body
  }

  /// Creates the response to `request`, in the SMP version of the request.
  package init(answering request: SMPMessage, with response: some SMPResponse) {
    self.init(answering: request, body: response.body)
  }

  /// Creates the refusal of `request`, in the SMP version of the request.
  package init(answering request: SMPMessage, refusing refusal: SMPRefusal) {
    self.init(answering: request, body: refusal.body(in: request.version))
  }

  private init(answering request: SMPMessage, body: CBORMap) {
    guard let operation = request.operation.response else {
      preconditionFailure("a response has no response")
    }
    version = request.version
    self.operation = operation
    group = request.group
    number = request.number
    sequence = request.sequence
    self.body = body
  }

  /// - Precondition: the body fits the header's length field.
  package var encoded: [UInt8] {
    let bytes = CBORItem.map(body).encoded
    let header = SMPHeader(
      version: version, operation: operation, flags: flags, bodyLength: bytes.count,
      group: group, sequence: sequence, command: number)
    return header.encoded + bytes
  }

  /// The command of a request; `nil` for a response.
  package var command: SMPCommand? {
    switch operation {
    case .read: SMPCommand(group, number, .read)
    case .write: SMPCommand(group, number, .write)
    case .readResponse, .writeResponse: nil
    }
  }

  /// Decodes the device's response to a request of type `Request`; returns the response or the
  /// refusal.
  package func answer<Request: SMPRequest>(
    to request: Request.Type
  ) throws(SMPDecodeFault) -> Result<Request.Response, SMPRefusal> {
    let command = Request.command
    guard group == command.group, number == command.number,
      operation == command.operation.response
    else { throw .answersAnother(command) }
    let fields = SMPFields(body)
    if let refusal = try SMPRefusal(fields: fields) { return .failure(refusal) }
    return .success(try Request.Response(fields: fields))
  }
}
