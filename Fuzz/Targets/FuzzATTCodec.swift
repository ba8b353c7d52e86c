import OtaflashATT

/// Checks that any bytes are decoded to a PDU or rejected as malformed, and that the encoding of a
/// decoded PDU decodes to the same PDU.
func fuzzATTCodec(_ input: [UInt8]) {
  guard let pdu = try? ATTPDU(decoding: input) else { return }
  let again = try? ATTPDU(decoding: pdu.encoded)
  precondition(again == pdu, "\(pdu) is encoded as \(pdu.encoded)")
}
