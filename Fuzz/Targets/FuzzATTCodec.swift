import OtaflashATT

/// Any bytes are a PDU or malformed; the encoding of a decoded PDU decodes to the same PDU.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzATTCodec(_ data: UnsafePointer<UInt8>, _ size: Int) -> CInt {
  do throws(DecodeFault) {
    let pdu = try ATTPDU(decoding: inputBytes(data, size))
    let again = try ATTPDU(decoding: pdu.encoded)
    precondition(again == pdu, "\(pdu) is encoded as \(pdu.encoded)")
  } catch {
    return 0
  }
  return 0
}
