/// The arithmetic of a transfer: which PDU may be sent, and when the device must confirm that it
/// has processed the PDUs before. After each confirmation, the number of PDUs up to the next
/// confirmation doubles, up to a maximum.
struct TelinkWindow: Equatable, Sendable {
  /// The numbers of PDUs from one confirmation to the next: 8, 16, 32. A device with a web client
  /// kept up with 32 unconfirmed PDUs, and lost the link at 256.
  static let shortest = 8
  static let longest = 32

  /// The number of image bytes.
  let total: Int
  /// The number of image bytes in a PDU.
  let pduLength: Int
  let stretchMaximum: Int
  /// Whether no PDU is sent while a confirmation is pending.
  let isStopAndWait: Bool
  /// The number of PDUs from one confirmation to the next.
  private(set) var stretch: Int
  /// The number of sent PDUs.
  private(set) var sent = 0
  /// The number of PDUs that the device has confirmed.
  private(set) var confirmed = 0
  /// The number of PDUs before the last request for a confirmation.
  private var asked = 0
  private var isAsking = false

  /// - Parameters:
  ///   - losses: the number of earlier transfers that failed because of lost packets; each halves
  ///     the longest stretch.
  ///   - limit: the maximum number of unconfirmed bytes; `nil` = no additional limit.
  init(total: Int, pduLength: Int, losses: Int = 0, limit: Int? = nil) {
    precondition(total > 0 && pduLength > 0)
    self.total = total
    self.pduLength = pduLength
    let slowed = Self.longest >> min(losses, 8)
    let permitted = max(1, (limit ?? .max) / pduLength)
    stretchMaximum = max(1, min(slowed, max(1, permitted / 2)))
    isStopAndWait = slowed < Self.shortest || permitted == 1
    stretch = min(Self.shortest, stretchMaximum)
  }

  /// The number of PDUs of the image.
  var count: Int { (total + pduLength - 1) / pduLength }

  var isComplete: Bool { confirmed == count }

  /// The number of image bytes that the device has confirmed.
  var confirmedBytes: Int { min(total, confirmed * pduLength) }

  /// The image bytes of the next PDU; `nil` if a confirmation must be requested or must arrive
  /// first, or if all PDUs are sent.
  var sendable: Range<Int>? {
    let ahead = isStopAndWait ? stretch : 2 * stretch
    guard sent < count, sent - confirmed < ahead, !isQuestionDue else { return nil }
    return sent * pduLength..<min(total, (sent + 1) * pduLength)
  }

  /// Whether the device must be asked before the next PDU is sent.
  var isQuestionDue: Bool {
    guard !isAsking, sent > confirmed else { return false }
    return sent == count || sent - max(asked, confirmed) >= stretch
  }

  mutating func didSend() { sent += 1 }

  mutating func didAsk() {
    asked = sent
    isAsking = true
  }

  /// Processes the answer to the question: the device has processed all PDUs before the question.
  mutating func answered() {
    isAsking = false
    confirmed = max(confirmed, asked)
    stretch = min(2 * stretch, stretchMaximum)
  }

  /// Processes a report of accepted PDUs, which may be outdated. Returns `false` if the device
  /// reports more PDUs than were sent.
  mutating func reported(pdus: Int) -> Bool {
    guard pdus <= sent else { return false }
    confirmed = max(confirmed, pdus)
    return true
  }
}
