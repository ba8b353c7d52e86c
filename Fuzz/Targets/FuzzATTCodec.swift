import OtaflashATT

/// Checks that any bytes are decoded to a PDU or rejected as malformed, and that the encoding of a
/// decoded PDU decodes to the same PDU.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzATTCodec(_ data: UnsafePointer<UInt8>, _ size: Int) -> CInt {
  guard let pdu = try? ATTPDU(decoding: inputBytes(data, size)) else { return 0 }
  let again = try? ATTPDU(decoding: pdu.encoded)
  precondition(again == pdu, "\(pdu) is encoded as \(pdu.encoded)")
  return 0
}
