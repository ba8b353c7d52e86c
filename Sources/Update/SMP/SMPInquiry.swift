import OtaflashGATT
import OtaflashWire

/// The requests at the start of a connection.
extension SMPFacts {
  /// A server may not respond to an unknown command. Lost requests are rare before anything else is
  /// sent, so two attempts are sufficient.
  private static let inquiryLimit = Duration.seconds(2)
  private static let inquiryTries = 2

  /// The number of requests for the slots to a server that may still erase one for an earlier
  /// connection.
  static let triesOfBusyServer = 8

  /// Sends first the request that every server answers: a busy server would ignore the others.
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

  /// `nil` if the server does not respond.
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

  /// Whether the server reassembles a fragmented request. A server reports the size of its buffer
  /// even if it cannot fill it from several writes, so the host sends an echo with two fragments.
  ///
  /// "Not supported" is an answer to a complete request, too. Without reassembly, the first
  /// fragment is truncated and refused as invalid; the second is ignored.
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
