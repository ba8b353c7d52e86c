import OtaflashATT

/// Any bytes are a PDU or malformed; what was read is written back to what reads the same.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzATTCodec(_ data: UnsafePointer<UInt8>, _ size: Int) -> CInt {
  do throws(DecodeFault) {
    let pdu = try ATTPDU(decoding: inputBytes(data, size))
    let again = try ATTPDU(decoding: pdu.encoded)
    precondition(again == pdu, "\(pdu) is written as \(pdu.encoded)")
  } catch {
    return 0
  }
  return 0
}
