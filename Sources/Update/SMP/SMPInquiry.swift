import OtaflashGATT
import OtaflashWire

/// The requests at the start of a connection.
extension SMPFacts {
  /// The time limit for the response to a command that the server may not support. Lost requests
  /// are rare at the start of a connection, so two attempts are sufficient.
  private static let inquiryLimit = Duration.seconds(2)
  private static let inquiryTries = 2

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
    let parameters = try await Self.inquire(SMPOS.Parameters(), over: channel)
    self.init(parameters: parameters, state: state)
    reassembles = try await Self.probe(parameters, over: channel)
    bootloader =
      try await Self.inquire(
        SMPOS.BootloaderInfo(query: SMPOS.BootloaderInfo.modeQuery), over: channel) ?? bootloader
    sizes = try await Self.inquire(SMPImage.SlotInfo(), over: channel)
  }

  /// Returns the response to a request; `nil` if the server refuses the request or does not
  /// respond.
  static func inquire<Request: SMPRequest>(
    _ request: Request, over channel: SMPChannel
  ) async throws(UpdateFault) -> Request.Response? {
    do throws(UpdateFault) {
      let result = try await channel.ask(
        request, .connect, within: inquiryLimit, tries: inquiryTries)
      return switch result {
      case .success(let response): response
      case .failure: nil
      }
    } catch .gatt(.connect, .timedOut) {
      return nil
    }
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
    do throws(UpdateFault) {
      let result = try await channel.ask(
        SMPOS.Echo(text), .connect, within: inquiryLimit, tries: inquiryTries)
      return switch result {
      case .success(let response): response.text == text
      case .failure(let refusal): refusal.isNotSupported
      }
    } catch .gatt(.connect, .timedOut) {
      return false
    }
  }
}
