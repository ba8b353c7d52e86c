import OtaflashUpdate

/// What a device that speaks SMP may notify, in parts of any size: messages are put together, read or
/// refused, and what was read is written as what reads the same.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzSMPMessages(_ data: UnsafePointer<UInt8>, _ size: Int) -> CInt {
  var reassembly = SMPReassembly()
  for part in messages(octets(data, size)) {
    guard case .message(let header, let octets) = reassembly.received(part) else { continue }
    precondition(octets.count == SMPHeader.size + header.bodyLength)
    do throws(SMPDecodeFault) {
      let message = try SMPMessage(decoding: octets)
      readAgain(message)
      readAnswers(in: message)
    } catch {
      continue
    }
  }
  return 0
}

/// Encodings are compared, not items: a float that is no number equals nothing.
private func readAgain(_ message: SMPMessage) {
  let encoded = message.encoded
  do throws(SMPDecodeFault) {
    let again = try SMPMessage(decoding: encoded)
    precondition(again.encoded == encoded, "\(message) is written as \(encoded)")
  } catch {
    preconditionFailure("\(encoded) was written, and cannot be read: \(error)")
  }
}

private func readAnswers(in message: SMPMessage) {
  read(SMPImage.ReadState.self, in: message)
  read(SMPImage.WriteState.self, in: message)
  read(SMPImage.Upload.self, in: message)
  read(SMPImage.Erase.self, in: message)
  read(SMPImage.SlotInfo.self, in: message)
  read(SMPOS.Echo.self, in: message)
  read(SMPOS.Reset.self, in: message)
  read(SMPOS.Parameters.self, in: message)
  read(SMPOS.ApplicationInfo.self, in: message)
  read(SMPOS.BootloaderInfo.self, in: message)
}

private func read<Request: SMPRequest>(_ request: Request.Type, in message: SMPMessage) {
  do throws(SMPDecodeFault) { _ = try message.answer(to: request) } catch { return }
}
