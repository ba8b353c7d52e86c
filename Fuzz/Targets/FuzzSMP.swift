import OtaflashWire

@testable import OtaflashUpdate

/// Notifications of an SMP server and writes of a host are decoded or rejected, decoded messages
/// are encoded and decoded again as the same, and an upload that trusts them stays within the
/// image, its window and its limits.
func fuzzSMP(_ input: [UInt8]) {
  decodeItem(input)
  var reassembly = SMPReassembly()
  var exchange = SMPExchange(firstSequence: 0)
  var upload = Upload()
  for value in messages(input) {
    guard case .message(let header, let bytes) = reassembly.received(value) else { continue }
    _ = exchange.received(header)
    guard let message = decodeMessage(bytes) else { continue }
    do throws(UpdateFault) { try upload.take(message) } catch { return }
  }
}

private func decodeItem(_ input: [UInt8]) {
  do throws(CBORFault) {
    let item = try CBORItem(decoding: input)
    let encoded = item.encoded
    let again = try? CBORItem(decoding: encoded)
    precondition(again?.encoded == encoded)
  } catch {
    precondition(error.position <= input.count)
  }
}

private func decodeMessage(_ bytes: [UInt8]) -> SMPMessage? {
  do throws(SMPDecodeFault) {
    let message = try SMPMessage(decoding: bytes)
    let again = try? SMPMessage(decoding: message.encoded)
    precondition(again?.encoded == message.encoded)
    if message.command != nil { _ = try SMPCall(message) } else { try decodeAnswer(message) }
    return message
  } catch {
    return nil
  }
}

private func decodeAnswer(_ message: SMPMessage) throws(SMPDecodeFault) {
  switch (message.group, message.number) {
  case (.os, 6): _ = try message.answer(to: SMPOS.Parameters.self)
  case (.os, 8): _ = try message.answer(to: SMPOS.BootloaderInfo.self)
  case (.image, 0): _ = try message.answer(to: SMPImage.ReadState.self)
  case (.image, 6): _ = try message.answer(to: SMPImage.SlotInfo.self)
  default: break
  }
}

/// An upload of 3000 bytes with answers from the input.
private struct Upload {
  private static let total = 3000
  private static let reach = 6

  private var window = SMPTransfer(
    total: total, startingAt: 0, widthLimit: 4, reach: reach)
  private let size = SMPPacketSize(
    bytes: 244, announcement: SMPImage.Upload.Announcement(size: total, sha: nil))
  private var sequence: UInt8 = 0

  mutating func take(_ message: SMPMessage) throws(UpdateFault) {
    send()
    if let answer = Self.answer(message) {
      switch answer {
      case .success(let response):
        _ = try window.answered(message.sequence, requesting: response.offset ?? 0)
      case .failure(let refusal):
        _ = try window.refused(message.sequence, isBusy: refusal.isBusy)
      }
    } else if window.isWaiting {
      _ = try window.timedOut(after: .seconds(5))
    }
    precondition(window.acknowledged <= Self.total && window.next <= Self.total)
    precondition(window.width <= Self.reach)
  }

  private static func answer(
    _ message: SMPMessage
  ) -> Result<SMPImage.Upload.Response, SMPRefusal>? {
    do throws(SMPDecodeFault) {
      return try message.answer(to: SMPImage.Upload.self)
    } catch {
      return nil
    }
  }

  private mutating func send() {
    var sent = 0
    while let range = window.sendable(size) {
      precondition(!range.isEmpty && range.upperBound <= Self.total && sent < Self.reach)
      window.sent(range, as: sequence)
      sequence &+= 1
      sent += 1
    }
  }
}
