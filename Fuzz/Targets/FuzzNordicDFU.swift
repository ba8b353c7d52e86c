/// What a boot loader may notify and what a host may write: read or refused, and what was read is
/// written back as the same octets.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzNordicDFU(_ data: UnsafePointer<UInt8>, _ size: Int) -> CInt {
  for message in messages(octets(data, size)) {
    read(message, SecureDFURequest.init(decoding:)) { $0.encoded }
    read(message, LegacyDFURequest.init(decoding:)) { $0.encoded }
    read(message, LegacyDFUSizes.init(decoding:)) { $0.encoded }
    read(message, LegacyDFUVersion.init(decoding:)) { $0.encoded }
    read(message, ButtonlessResponse.init(decoding:)) { $0.encoded }
    // These leave octets alone that have no meaning, and a name that is no UTF-8 is mended.
    read(message, SecureDFUResponse.init(decoding:)) { prefix($0.encoded, of: message) }
    read(message, LegacyDFUNotice.init(decoding:)) { prefix($0.encoded, of: message) }
    read(message, ButtonlessRequest.init(decoding:)) { _ in message }
  }
  return 0
}

private func read<Value>(
  _ message: [UInt8], _ decode: ([UInt8]) throws(DFUDecodeFault) -> Value,
  _ encode: (Value) -> [UInt8]
) {
  do throws(DFUDecodeFault) {
    let value = try decode(message)
    precondition(encode(value) == message)
  } catch {
    precondition(!error.description.isEmpty)
  }
}

/// `message`, if it begins with what was encoded.
private func prefix(_ encoded: [UInt8], of message: [UInt8]) -> [UInt8] {
  message.starts(with: encoded) ? message : encoded
}
