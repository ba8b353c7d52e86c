import OtaflashFirmware

@testable import OtaflashUpdate

private let image: [UInt8] = (0..<3000).map { UInt8(truncatingIfNeeded: $0 &* 31) }
private let prefixes = PrefixChecksums(image)

/// Answers and notifications of a device are decoded or rejected, and an upload that trusts them
/// stays within the image, the window and its limits.
func fuzzOTAMessages(_ input: [UInt8]) {
  var transfer = OTATransfer(prefixes: prefixes, startingAt: 0, chunk: 240)
  for message in messages(input) {
    decodeAnswer(message)
    do throws(OTADecodeFault) {
      let status = try OTAStatus(decoding: message)
      do throws(UpdateFault) { try take(status, into: &transfer) } catch { return }
    } catch {
      continue
    }
  }
}

private func decodeAnswer(_ message: [UInt8]) {
  do throws(OTADecodeFault) {
    let answer = try OTAAnswer(decoding: message)
    switch answer.opcode {
    case 0x81: _ = try OTAInfo(decoding: answer.payload)
    case 0x82: _ = try OTARunning(decoding: answer.payload)
    case 0x83: _ = try OTAResumePoint(decoding: answer.payload)
    case 0x8D: _ = try OTAPatchInfo(decoding: answer.payload)
    case 0x8E: _ = try OTABase(decoding: answer.payload)
    case 0x8F: _ = try OTAPatchPoint(decoding: answer.payload)
    default: _ = try OTAPosition(decoding: answer.payload)
    }
  } catch {
    return
  }
}

private func take(_ status: OTAStatus, into transfer: inout OTATransfer) throws(UpdateFault) {
  let reaction = try transfer.received(
    status.window.isMultiple(of: 2) ? status : corrected(status),
    isAnswer: status.window.isMultiple(of: 3))
  if case .discard(let offset) = reaction { try transfer.rewound(to: position(offset)) }
  if let range = transfer.sendable {
    precondition(range.upperBound <= image.count && range.upperBound <= transfer.limit)
    precondition(!range.isEmpty && range.count <= 240)
    transfer.sent(range)
  }
  precondition(transfer.verified <= transfer.total && transfer.acknowledged <= transfer.total)
}

/// The status that a correct device would report for the same offset.
private func corrected(_ status: OTAStatus) -> OTAStatus {
  var corrected = status
  corrected.crc32 = prefixes.checksum(ofFirst: min(status.nextOffset, image.count))
  return corrected
}

private func position(_ offset: Int) throws(UpdateFault) -> OTAPosition {
  let crc32 = prefixes.checksum(ofFirst: offset)
  let bytes = [UInt32(offset), crc32].flatMap { word in
    (0..<4).map { UInt8(truncatingIfNeeded: word >> (8 * $0)) }
  }
  do throws(OTADecodeFault) { return try OTAPosition(decoding: bytes) } catch {
    preconditionFailure("8 bytes are a position: \(error)")
  }
}
