import OtaflashATT

/// What the faults of a plan do to what a receiver tells. Kept for the life of the board, so that
/// what happens once happens once.
struct ReceiverLies {
  private let plan: FaultPlan
  private var random: SeededRandom
  private var imageSize: UInt32 = 0
  private var statusIsBeingRead = false
  private var hasCorruptedChecksum = false
  private var hasJumpedBack = false
  private var repeated: StatusFields?
  private var hasClaimedForeignState = false

  init(plan: FaultPlan, random: SeededRandom) {
    self.plan = plan
    self.random = random
  }

  /// A PDU from the host.
  mutating func received(_ pdu: ATTPDU, by device: DeviceAttributes) {
    guard case .request(let request) = pdu else { return }
    statusIsBeingRead = request == .read(device.status)
    if case .write(device.control, let value) = request { noteBegin(value) }
  }

  /// A PDU to the host.
  mutating func altered(_ pdu: ATTPDU, by device: DeviceAttributes) -> ATTPDU {
    switch pdu {
    case .notification(device.status, let value):
      return .notification(device.status, value: altered(status: value))
    case .response(.read(let value)) where statusIsBeingRead:
      return .response(.read(value: altered(status: value)))
    case .indication(device.control, let value):
      return .indication(device.control, value: altered(answer: value))
    default:
      return pdu
    }
  }

  /// BEGIN is 06, flags, image size (docs/ota-service.md, 4).
  private mutating func noteBegin(_ request: [UInt8]) {
    guard request.count >= 6, request[0] == 0x06 else { return }
    imageSize = StatusFields.word(request, at: 2)
  }

  private mutating func altered(answer: [UInt8]) -> [UInt8] {
    if plan.contains(.nonsense) {
      return random.bytes(count: Int.random(in: 1...20, using: &random))
    }
    // VERIFY's answer is 88, result, crc32.
    if plan.contains(.wrongVerifyCRC), answer.count >= 6, answer[..<2] == [0x88, 0x00] {
      var answer = answer
      answer[2] ^= 0x01
      return answer
    }
    if plan.contains(.foreignState) { return claimingForeignState(answer) }
    // REWIND's answer is 87, result, next offset, crc32.
    if plan.contains(.wrongCRCAlways), answer.count >= 10, answer[0] == 0x87 {
      var answer = answer
      answer[6] ^= 0x01
      return answer
    }
    return answer
  }

  /// RESUME POINT's answer is 83, result, size, crc32, next offset, crc32 of the octets held;
  /// BEGIN's is 86, result, next offset, crc32. The second BEGIN is believed.
  private mutating func claimingForeignState(_ answer: [UInt8]) -> [UInt8] {
    guard answer.count >= 10, answer[1] == 0 else { return answer }
    switch answer[0] {
    case 0x83:
      return answer[..<2] + [0x00, 0x10, 0, 0, 1, 2, 3, 4, 0x00, 0x08, 0, 0, 5, 6, 7, 8]
    case 0x86 where !hasClaimedForeignState:
      hasClaimedForeignState = true
      return answer[..<2] + [0x00, 0x08, 0, 0, 5, 6, 7, 8]
    default: return answer
    }
  }

  private mutating func altered(status: [UInt8]) -> [UInt8] {
    guard var fields = StatusFields(status), fields.nextOffset > 0 else { return status }
    if plan.contains(.wrongCRCAlways) || (plan.contains(.wrongCRCOnce) && !hasCorruptedChecksum) {
      hasCorruptedChecksum = true
      fields.crc32 ^= 0x0000_0001
    }
    if plan.contains(.repeatOffset) {
      fields = repeated ?? fields
      repeated = fields
    }
    if plan.contains(.jumpBack), !hasJumpedBack, fields.nextOffset >= imageSize / 2 {
      hasJumpedBack = true
      fields.nextOffset = 0
      fields.crc32 = 0
    }
    if plan.contains(.beyondEnd) { fields.nextOffset = imageSize &+ 1000 }
    return fields.octets(replacing: status)
  }
}

/// The fields of a Status that faults change (docs/ota-service.md, 2).
private struct StatusFields {
  var nextOffset: UInt32
  var crc32: UInt32

  init?(_ status: [UInt8]) {
    guard status.count >= 16 else { return nil }
    nextOffset = Self.word(status, at: 4)
    crc32 = Self.word(status, at: 8)
  }

  static func word(_ bytes: [UInt8], at start: Int) -> UInt32 {
    (0..<4).reduce(UInt32(0)) { $0 | UInt32(bytes[start + $1]) << UInt32(8 * $1) }
  }

  func octets(replacing status: [UInt8]) -> [UInt8] {
    var status = status
    for index in 0..<4 {
      status[4 + index] = UInt8(truncatingIfNeeded: nextOffset >> UInt32(8 * index))
      status[8 + index] = UInt8(truncatingIfNeeded: crc32 >> UInt32(8 * index))
    }
    return status
  }
}
