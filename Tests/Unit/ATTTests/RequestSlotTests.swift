import OtaflashATT
import Testing

@Suite struct RequestSlotTests {
  private let deadline = LinkInstant(elapsed: .seconds(30))

  @Test func theResponseClosesTheSlot() {
    var slot = RequestSlot()
    slot.sent(.readRequest, deadline: deadline)
    #expect(slot.deadline == deadline)
    #expect(slot.received(.read(value: [1])) == .complete(.read(value: [1])))
    #expect(slot.deadline == nil)
    slot.sent(.writeRequest, deadline: deadline)
    #expect(slot.received(.write) == .complete(.write))
  }

  @Test func anErrorForTheRequestClosesTheSlot() {
    var slot = RequestSlot()
    slot.sent(.readRequest, deadline: deadline)
    let error = ATTResponse.error(
      ErrorResponse(requestOpcode: 0x0A, handle: .first, code: .readNotPermitted))
    #expect(slot.received(error) == .complete(error))
  }

  @Test func anUnsolicitedResponseDisablesTheSlot() {
    var slot = RequestSlot()
    #expect(slot.received(.write) == .disconnect(.unsolicited(.writeResponse)))
    #expect(slot.received(.write) == .disconnect(.unsolicited(.writeResponse)))
  }

  @Test func aWrongResponseDisablesTheSlot() {
    var slot = RequestSlot()
    slot.sent(.readRequest, deadline: deadline)
    #expect(slot.received(.write) == .disconnect(.unsolicited(.writeResponse)))
    #expect(slot.received(.read(value: [])) == .disconnect(.unsolicited(.readResponse)))
  }

  @Test func aSlotExpiresPermanentlyAtItsDeadline() {
    var slot = RequestSlot()
    slot.sent(.readRequest, deadline: deadline)
    let justBefore = LinkInstant(elapsed: .seconds(30) - .nanoseconds(1))
    let expiry1 = slot.expired(at: justBefore)
    #expect(!expiry1)
    let expiry2 = slot.expired(at: deadline)
    #expect(expiry2)
    let expiry3 = slot.expired(at: deadline)
    #expect(!expiry3)
    #expect(slot.received(.read(value: [])) == .disconnect(.unsolicited(.readResponse)))
  }

  @Test func anIdleSlotNeverExpires() {
    var slot = RequestSlot()
    let expiry4 = slot.expired(at: deadline)
    #expect(!expiry4)
    slot.sent(.readRequest, deadline: deadline)
    slot.withdraw()
    let expiry5 = slot.expired(at: deadline)
    #expect(!expiry5)
  }
}

@Suite struct ATTMTUTests {
  @Test func bounds() {
    #expect(ATTMTU(bytes: 22) == nil)
    #expect(ATTMTU(bytes: 23) == .default)
    #expect(ATTMTU(bytes: 517) == .maximum)
    #expect(ATTMTU(bytes: 518) == nil)
    #expect(ATTMTU(clamping: 0) == .default)
    #expect(ATTMTU(clamping: 65535) == .maximum)
  }

  @Test func theSmallerSideDecides() {
    #expect(ATTMTU.negotiated(.maximum, ATTMTU(clamping: 185)).bytes == 185)
    #expect(ATTMTU.negotiated(ATTMTU(clamping: 100), ATTMTU(clamping: 3)).bytes == 23)
    #expect(ATTMTU(clamping: 247).valueSizeMaximum == 244)
  }
}

@Suite struct ErrorTextTests {
  @Test func everyCodeHasItsOwnText() {
    let texts = Set((UInt8.min...UInt8.max).map { ATTErrorCode($0).description })
    #expect(texts.count == 256)
  }

  @Test(
    arguments: [
      (0x0A, "no such attribute in the range (0x0A)"), (0x80, "an error of the application (0x80)"),
      (0x9F, "an error of the application (0x9F)"), (0xA0, "a reserved error code (0xA0)"),
      (0xE0, "an error of a common profile (0xE0)"),
      (0xFE, "a procedure is already in progress (0xFE)"),
    ] as [(UInt8, String)])
  func text(_ code: UInt8, _ text: String) {
    #expect(ATTErrorCode(code).description == text)
  }
}
