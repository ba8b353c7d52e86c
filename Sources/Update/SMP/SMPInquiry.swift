import OtaflashGATT
import OtaflashWire

/// The requests at the start of a connection.
extension SMPFacts {
  /// The number of attempts to read the slots of a server that may still be erasing a slot for an
  /// earlier connection.
  static let triesOfBusyServer = 8

  /// Reads the state of the server. The first request is a request that every server supports: if a
  /// busy server ignored another request, the server would appear not to support that request.
  ///
  /// - Throws: `.gatt(.connect, .timedOut)` if not even the slots are reported; `.declined`.
  init(
    asking channel: SMPChannel, tries: Int = SMPChannel.triesDefault
  ) async throws(UpdateFault) {
    let state = try await channel.perform(SMPImage.ReadState(), .connect, tries: tries)
    self.init(buffers: try await SMPBuffers(asking: channel), state: state)
    bootloader =
      try await channel.inquire(
        SMPOS.BootloaderInfo(query: SMPOS.BootloaderInfo.modeQuery)) ?? bootloader
    sizes = try await channel.inquire(SMPImage.SlotInfo())
  }
}

extension SMPChannel {
  /// The time limit for the response to a command that the server may not support. Lost requests
  /// are rare at the start of a connection, so two attempts are sufficient.
  private static let inquiryLimit = Duration.seconds(2)
  private static let inquiryTries = 2

  /// Returns the response to a request; `nil` if the server refuses the request or does not
  /// respond.
  func inquire<Request: SMPRequest>(
    _ request: Request
  ) async throws(UpdateFault) -> Request.Response? {
    switch try await askBriefly(request) {
    case .success(let response): response
    case .failure, nil: nil
    }
  }

  /// Performs a request that the server may not support. Returns `nil` if the server does not
  /// respond.
  func askBriefly<Request: SMPRequest>(
    _ request: Request
  ) async throws(UpdateFault) -> Result<Request.Response, SMPRefusal>? {
    do throws(UpdateFault) {
      return try await ask(
        request, .connect, within: Self.inquiryLimit, tries: Self.inquiryTries)
    } catch .gatt(.connect, .timedOut) {
      return nil
    }
  }
}

extension SMPBuffers {
  /// Reads the server's buffers, and determines whether it reassembles requests.
  init(asking channel: SMPChannel) async throws(UpdateFault) {
    parameters = try await channel.inquire(SMPOS.Parameters())
    reassembles = try await Self.probe(parameters, over: channel)
  }

  /// Returns whether the server reassembles a fragmented request. A server reports the size of its
  /// buffer even if it cannot combine several writes in the buffer, so the host sends an echo with
  /// two fragments.
  ///
  /// The result "not supported" also shows that the request arrived completely. Without reassembly,
  /// the server refuses the truncated first fragment as invalid, and ignores the second fragment.
  private static func probe(
    _ parameters: SMPOS.Parameters.Response?, over channel: SMPChannel
  ) async throws(UpdateFault) -> Bool {
    let text = String(repeating: " ", count: channel.writeMaximum - SMPHeader.size)
    let bytes = SMPMessage(SMPOS.Echo(text), sequence: 0).encoded.count
    guard let parameters, parameters.bufferSize >= bytes else { return false }
    return switch try await channel.askBriefly(SMPOS.Echo(text)) {
    case .success(let response): response.text == text
    case .failure(let refusal): refusal.isNotSupported
    case nil: false
    }
  }
}
