import OtaflashATT

/// The misbehavior of a board in the connections of one boot.
struct ReceiverAlteration: PDUAlteration {
  let misbehavior: Shared<ReceiverMisbehavior>
  let device: DeviceAttributes

  func received(_ pdu: ATTPDU) { misbehavior.withLock { $0.received(pdu, by: device) } }

  func altered(_ pdu: ATTPDU) -> ATTPDU { misbehavior.withLock { $0.altered(pdu, by: device) } }
}

/// Applies the faults of a plan to the receiver's answers. An instance lives as long as the board,
/// so that a fault that occurs once is not repeated.
struct ReceiverMisbehavior {
  private let plan: FaultPlan
  private var random: SeededRandom
  private var imageSize: UInt32 = 0
  private var statusIsBeingRead = false
  private var hasCorruptedChecksum = false
  private var hasJumpedBack = false
  private var repeated: StatusFields?
  private var refused: StatusFields?
  private var writesData = false
  private var isWindowOpen = false
  private var hasActivated = false
  private var hasClaimedForeignState = false

  init(plan: FaultPlan, random: SeededRandom) {
    self.plan = plan
    self.random = random
  }

  /// Called when the new image runs, even if the answer to ACTIVATE did not reach the host.
  mutating func noteActivation() { hasActivated = true }

  /// Observes a PDU from the host.
  mutating func received(_ pdu: ATTPDU, by device: DeviceAttributes) {
    guard case .request(let request) = pdu else { return }
    statusIsBeingRead = request == .read(device.status)
    writesData = false
    if case .write(device.data, _) = request { writesData = true }
    if case .write(device.control, let value) = request { noteBegin(value) }
  }

  /// Returns a PDU to the host with the misbehavior applied.
  mutating func altered(_ pdu: ATTPDU, by device: DeviceAttributes) -> ATTPDU {
    switch pdu {
    case .notification(device.status, let value):
      return .notification(device.status, value: altered(status: value))
    case .response(.read(let value)) where statusIsBeingRead:
      return .response(.read(value: altered(status: value)))
    case .response(.write) where writesData && plan.contains(.refusesData):
      return .response(.error(Self.busy(device.data)))
    case .indication(device.control, let value):
      return .indication(device.control, value: altered(answer: value))
    default:
      return pdu
    }
  }

  private static func busy(_ handle: AttributeHandle) -> ErrorResponse {
    ErrorResponse(
      requestOpcode: ATTOpcode.writeRequest.rawValue, handle: handle,
      code: ATTErrorCode(rawValue: 0x80))
  }

  /// Stores the image size of a BEGIN request: 06, flags, image size (docs/ota-service.md, 4).
  private mutating func noteBegin(_ request: [UInt8]) {
    guard request.count >= 6, request[0] == 0x06 else { return }
    imageSize = StatusFields.word(request, at: 2)
  }

  private mutating func altered(answer: [UInt8]) -> [UInt8] {
    if plan.contains(.nonsense) {
      return random.bytes(count: Int.random(in: 1...20, using: &random))
    }
    if answer.count >= 2, answer[..<2] == [0x89, 0x00] { hasActivated = true }
    // INFO's answer is 81, result, version, flags, hardware id.
    if plan.contains(.otherBoard), hasActivated, answer.count >= 8, answer[0] == 0x81 {
      var answer = answer
      answer[7] ^= 0x80
      return answer
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

  /// Returns the answer to RESUME POINT or BEGIN with the state of an unknown image. The answer to
  /// RESUME POINT is 83, result, size, crc32, next offset, crc32 of the held bytes; the answer to
  /// BEGIN is 86, result, next offset, crc32. Only the first answer to BEGIN is changed.
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
    guard let fields = StatusFields(status) else { return status }
    var stubborn = fields
    if fields.state == 1 { withhold(&stubborn) }
    guard stubborn.nextOffset > 0 else { return stubborn.bytes(replacing: status) }
    return misreporting(stubborn).bytes(replacing: status)
  }

  /// Applies the faults that stop the progress of a host during the transfer.
  private mutating func withhold(_ fields: inout StatusFields) {
    if plan.contains(.windowFlaps) {
      isWindowOpen.toggle()
      fields.window = isWindowOpen ? 1 : 0
    }
    if plan.contains(.durableWanders) {
      fields.window = 0
      fields.durable = UInt32.random(in: 0...6, using: &random)
    }
    if plan.contains(.refusesData) {
      fields = refused ?? fields
      refused = fields
    }
  }

  private mutating func misreporting(_ status: StatusFields) -> StatusFields {
    var fields = status
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
    return fields
  }
}

/// The fields of a Status that faults change (docs/ota-service.md, 2).
private struct StatusFields {
  let state: UInt8
  var window: UInt16
  var nextOffset: UInt32
  var crc32: UInt32
  var durable: UInt32

  init?(_ status: [UInt8]) {
    guard status.count >= 16 else { return nil }
    state = status[0]
    window = UInt16(status[2]) | UInt16(status[3]) << 8
    durable = Self.word(status, at: 12)
    nextOffset = Self.word(status, at: 4)
    crc32 = Self.word(status, at: 8)
  }

  static func word(_ bytes: [UInt8], at start: Int) -> UInt32 {
    (0..<4).reduce(UInt32(0)) { $0 | UInt32(bytes[start + $1]) << UInt32(8 * $1) }
  }

  func bytes(replacing status: [UInt8]) -> [UInt8] {
    var status = status
    for index in 0..<2 { status[2 + index] = UInt8(truncatingIfNeeded: window >> (8 * index)) }
    for index in 0..<4 {
      status[4 + index] = UInt8(truncatingIfNeeded: nextOffset >> UInt32(8 * index))
      status[8 + index] = UInt8(truncatingIfNeeded: crc32 >> UInt32(8 * index))
      status[12 + index] = UInt8(truncatingIfNeeded: durable >> UInt32(8 * index))
    }
    return status
  }
}
