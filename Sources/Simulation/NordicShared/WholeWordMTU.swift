import OtaflashATT

/// The ATT_MTU of bootloaders that write their flash in words. If the client supports less than the
/// bootloader's ATT_MTU, the bootloader answers with a value at which packets are complete words.
final class WholeWordMTU: PDUAlteration {
  /// The client's ATT_MTU.
  private let clientMTU = Shared(0)

  func received(_ pdu: ATTPDU) {
    guard case .request(.exchangeMTU(let mtu)) = pdu else { return }
    clientMTU.withLock { $0 = Int(mtu) }
  }

  func altered(_ pdu: ATTPDU) -> ATTPDU {
    guard case .response(.exchangeMTU(let own)) = pdu else { return pdu }
    let client = clientMTU.withLock { $0 }
    guard client < Int(own), client > RadioModel.attWriteHeaderBytes else { return pdu }
    let payload = (client - RadioModel.attWriteHeaderBytes) & ~3
    return .response(
      .exchangeMTU(serverReceiveMTU: UInt16(payload + RadioModel.attWriteHeaderBytes)))
  }
}
