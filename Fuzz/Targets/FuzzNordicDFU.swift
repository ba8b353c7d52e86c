import OtaflashATT
import OtaflashFirmware

@testable import OtaflashUpdate

private let image = PrefixChecksums((0..<9000).map { UInt8(truncatingIfNeeded: $0 &* 31) })

/// Notifications of a bootloader and writes of a host are decoded or rejected, decoded messages are
/// encoded to the same bytes, and a transfer that trusts them stays within the image.
func fuzzNordicDFU(_ input: [UInt8]) {
  var secure = SecureDFUTransfer(
    image: image,
    objects: SecureDFUObjects(total: image.count, objectSize: 4096, packetSize: 244),
    receipts: SecureDFUReceipts(interval: 6), standing: .before(0))
  var legacy = LegacyDFUTransfer(
    total: image.count, packetSize: 20, pace: LegacyDFUPace(afterLosses: 0))
  for message in messages(input) {
    readAndWrite(message)
    do throws(UpdateFault) {
      try take(message, into: &secure)
      try take(message, into: &legacy)
    } catch {
      return
    }
  }
}

// MARK: - Bytes

private func readAndWrite(_ message: [UInt8]) {
  read(message, SecureDFURequest.init(decoding:)) { $0.encoded }
  read(message, LegacyDFURequest.init(decoding:)) { $0.encoded }
  read(message, LegacyDFUSizes.init(decoding:)) { $0.encoded }
  read(message, LegacyDFUVersion.init(decoding:)) { $0.encoded }
  read(message, ButtonlessResponse.init(decoding:)) { $0.encoded }
  // The first two ignore bytes without a meaning. The last replaces invalid UTF-8 in a name, so its
  // encoding is not compared.
  read(message, SecureDFUResponse.init(decoding:)) { prefix($0.encoded, of: message) }
  read(message, LegacyDFUNotice.init(decoding:)) { prefix($0.encoded, of: message) }
  read(message, ButtonlessRequest.init(decoding:)) { _ in message }
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

/// `message`, if it starts with the encoded bytes.
private func prefix(_ encoded: [UInt8], of message: [UInt8]) -> [UInt8] {
  message.starts(with: encoded) ? message : encoded
}

// MARK: - Transfers

/// Sends until an answer is due, and uses the message as the answer.
private func take(
  _ message: [UInt8], into transfer: inout SecureDFUTransfer
) throws(UpdateFault) {
  var now = LinkInstant.start
  while true {
    switch transfer.step(at: now) {
    case .create: transfer.created(at: now)
    case .send(let packet):
      precondition(!packet.isEmpty && packet.upperBound <= image.count && packet.count <= 244)
      transfer.sent(packet)
    case .waitForErase(let erased): now = erased
    case .execute: transfer.executed()
    case .waitForReceipt:
      guard let progress = progress(in: message) else { return transfer.doubt() }
      _ = try transfer.received(receipt: progress)
      return
    case .askChecksum:
      guard let progress = progress(in: message) else { return }
      _ = try transfer.checked(progress)
      return
    case .complete: return
    }
  }
}

/// The decoded progress; with an even checksum, that of a correct bootloader for the same offset.
private func progress(in message: [UInt8]) -> SecureDFUProgress? {
  do throws(DFUDecodeFault) {
    guard case .progress(let stated) = try SecureDFUResponse(decoding: message) else { return nil }
    guard stated.crc32.isMultiple(of: 2), stated.offset <= image.count else { return stated }
    return SecureDFUProgress(
      offset: stated.offset, crc32: image.checksum(ofFirst: stated.offset))
  } catch {
    return nil
  }
}

private func take(
  _ message: [UInt8], into transfer: inout LegacyDFUTransfer
) throws(UpdateFault) {
  while let packet = transfer.sendable {
    precondition(!packet.isEmpty && packet.upperBound <= image.count && packet.count <= 20)
    transfer.sent(packet)
  }
  let notice: LegacyDFUNotice
  do throws(DFUDecodeFault) { notice = try LegacyDFUNotice(decoding: message) } catch { return }
  switch notice {
  case .receipt(let bytes): _ = try transfer.received(receipt: bytes)
  case .received(let bytes): _ = try transfer.reported(bytes)
  case .answer: try transfer.answered()
  }
  precondition(transfer.acknowledged <= transfer.next)
}
