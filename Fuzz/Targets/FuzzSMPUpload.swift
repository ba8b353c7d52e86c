@testable import OtaflashUpdate

/// What a server may answer to the requests of an upload: one that believes it keeps within the image,
/// its window and its bounds.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzSMPUpload(_ data: UnsafePointer<UInt8>, _ size: Int) -> CInt {
  var upload = Upload()
  for answer in messages(octets(data, size)) {
    do throws(UpdateFault) { try upload.take(answer) } catch { return 0 }
  }
  return 0
}

/// An upload of 3000 octets. An answer is what it is to, what kind it is, and an offset in 16 bits.
private struct Upload {
  private static let total = 3000
  private static let width = 4

  private var window = SMPUploadWindow(total: total, startingAt: 0, widthLimit: width)
  private let size = SMPPacketSize(
    octets: 244, announcement: SMPImage.Upload.Announcement(size: total, sha: nil))
  private var sequence: UInt8 = 0

  mutating func take(_ answer: [UInt8]) throws(UpdateFault) {
    guard answer.count >= 4 else { return }
    send()
    // Most answers are to what is under way.
    let number = sequence &- 1 &- answer[0] % 8
    switch answer[1] % 8 {
    case 0: if window.isWaiting { _ = try window.timedOut(after: .seconds(5)) }
    case 1: _ = try window.refused(number, isBusy: true)
    case 2: _ = try window.refused(number, isBusy: false)
    default:
      _ = try window.answered(number, wants: Int(answer[2]) << 8 | Int(answer[3]))
    }
    precondition(window.acknowledged <= Self.total && window.next <= Self.total)
    precondition((1...Self.width).contains(window.width))
  }

  private mutating func send() {
    var sent = 0
    while let range = window.sendable(size) {
      precondition(!range.isEmpty && range.upperBound <= Self.total && sent < Self.width)
      window.sent(range, as: sequence)
      sequence &+= 1
      sent += 1
    }
    precondition(window.isComplete || window.isWaiting, "an upload that waits for nothing")
  }
}
