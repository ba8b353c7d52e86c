import OtaflashUpdate

/// What a boot loader of Nordic's may notify or indicate, secure or legacy: it is read or refused, and
/// what was read is written as it was, where both sides are known.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzDFUMessages(_ data: UnsafePointer<UInt8>, _ size: Int) -> CInt {
  for message in messages(octets(data, size)) {
    check(message, SecureDFUResponse.init(decoding:), \.encoded)
    check(message, SecureDFURequest.init(decoding:), \.encoded)
    check(message, ButtonlessResponse.init(decoding:), \.encoded)
    check(message, ButtonlessRequest.init(decoding:), \.encoded)
    check(message, LegacyDFUNotice.init(decoding:), \.encoded)
    check(message, LegacyDFURequest.init(decoding:), \.encoded)
    check(message, LegacyDFUSizes.init(decoding:), \.encoded)
    check(message, LegacyDFUVersion.init(decoding:), \.encoded)
  }
  return 0
}

private func check<Message: Equatable>(
  _ octets: [UInt8], _ decode: ([UInt8]) throws(DFUDecodeFault) -> Message,
  _ encoded: (Message) -> [UInt8]
) {
  do throws(DFUDecodeFault) {
    let message = try decode(octets)
    let again: Message
    do throws(DFUDecodeFault) { again = try decode(encoded(message)) } catch {
      preconditionFailure("\(message) is written as \(encoded(message)): \(error)")
    }
    precondition(again == message, "\(message) is written as \(encoded(message))")
  } catch {
    return
  }
}
