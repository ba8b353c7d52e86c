import OtaflashFirmware
import OtaflashWire
import Testing

@testable import OtaflashUpdate

/// Tests of the arithmetic of an upload with scripted statuses, for an image of 1000 bytes in
/// chunks of 100 bytes.
@Suite struct OTATransferTests {
  private static let image = PrefixChecksums((0..<1000).map { UInt8(truncatingIfNeeded: $0 * 7) })

  // MARK: The window

  @Test func nothingIsSentBeforeTheDeviceGrantsAWindow() throws {
    var transfer = start()
    #expect(transfer.sendable == nil)
    #expect(try transfer.received(status(0, window: 250), isAnswer: true) == .proceed)
    #expect(sendAll(&transfer) == [0..<100, 100..<200])
    #expect(transfer.sendable == nil, "a window of 50 bytes does not fit a chunk of 100")
  }

  @Test func theLastChunkContainsTheRemainingBytes() throws {
    var transfer = start(at: 850)
    _ = try transfer.received(status(850, window: 1024), isAnswer: true)
    #expect(sendAll(&transfer) == [850..<950, 950..<1000])
    #expect(!transfer.isComplete)
    _ = try transfer.received(status(1000, window: 1024), isAnswer: false)
    #expect(transfer.isComplete)
    #expect(transfer.acknowledged == 1000)
  }

  @Test func aNotificationMovesTheWindowOnlyForward() throws {
    var transfer = start()
    _ = try transfer.received(status(0, window: 400), isAnswer: true)
    #expect(sendAll(&transfer).count == 4)
    _ = try transfer.received(status(100, window: 200), isAnswer: false)
    #expect(transfer.limit == 400)
    _ = try transfer.received(status(200, window: 400), isAnswer: false)
    #expect(transfer.limit == 600)
    #expect(sendAll(&transfer) == [400..<500, 500..<600])
  }

  @Test func anAnswerMayMoveTheWindowBack() throws {
    var transfer = start()
    _ = try transfer.received(status(0, window: 400), isAnswer: true)
    _ = try transfer.received(status(0, window: 0), isAnswer: true)
    #expect(transfer.sendable == nil)
  }

  @Test func aBusyDeviceReceivesTheSameBytesLater() throws {
    var transfer = start()
    _ = try transfer.received(status(0, window: 300), isAnswer: true)
    let range = try #require(transfer.sendable)
    transfer.sent(range)
    transfer.refused(range)
    #expect(transfer.sendable == nil)
    _ = try transfer.received(status(0, window: 300), isAnswer: false)
    #expect(transfer.sendable == 0..<100)
  }

  @Test func aWriteResponseAcknowledgesBeforeAnyChecksumIsCompared() throws {
    var transfer = start()
    _ = try transfer.received(status(0, window: 300), isAnswer: true)
    let range = try #require(transfer.sendable)
    transfer.sent(range)
    transfer.accepted(range)
    #expect(transfer.acknowledged == 100)
    #expect(transfer.verified == 0)
  }

  // MARK: Checkpoints

  @Test func theLastWriteOfAWindowClosesIt() throws {
    var transfer = start()
    _ = try transfer.received(status(0, window: 350), isAnswer: true)
    #expect(fill(&transfer) == [false, false, true])
    _ = try transfer.received(status(300, window: 100), isAnswer: false)
    #expect(fill(&transfer) == [true], "the only write of a window closes it")
  }

  /// A window that moves is closed once at its former end, regardless of its new end.
  @Test func aMovedWindowIsClosedAtItsFirstEnd() throws {
    var transfer = start()
    _ = try transfer.received(status(0, window: 400), isAnswer: true)
    var closing: [Int] = []
    while let range = transfer.sendable {
      let closes = transfer.closesWindow(range)
      transfer.sent(range, isCheckpoint: closes)
      if closes { closing.append(range.upperBound) }
      _ = try transfer.received(status(range.upperBound, window: 400), isAnswer: false)
    }
    #expect(closing == [400, 800, 1000])
  }

  @Test func aCheckpointThatCouldNotBeSentStaysDue() throws {
    var transfer = start()
    _ = try transfer.received(status(0, window: 300), isAnswer: true)
    for _ in 0..<3 { transfer.sent(try #require(transfer.sendable)) }
    _ = try transfer.received(status(300, window: 300), isAnswer: false)
    let next = try #require(transfer.sendable)
    #expect(transfer.closesWindow(next))
  }

  @Test func aWindowOfTheHostIsAlsoClosed() throws {
    var transfer = OTATransfer(
      prefixes: Self.image, startingAt: 0, chunk: 100, windowLimit: 200)
    _ = try transfer.received(status(0, window: 1000), isAnswer: true)
    #expect(fill(&transfer) == [false, true])
  }

  @Test func anAnswerFromBeforeASetbackIsIgnored() throws {
    var transfer = start()
    _ = try transfer.received(status(0, window: 300), isAnswer: true)
    #expect(fill(&transfer) == [false, false, true])
    var other = transfer
    let isNews = other.takeCheckpoint()
    _ = try transfer.received(status(100, window: 300, .gap), isAnswer: false)
    let isStale = !transfer.takeCheckpoint()
    #expect(isNews && isStale)
  }

  /// Sends the writes that fit the window; returns, for each write, whether it closes the window.
  private func fill(_ transfer: inout OTATransfer) -> [Bool] {
    var closing: [Bool] = []
    while let range = transfer.sendable {
      closing.append(transfer.closesWindow(range))
      transfer.sent(range, isCheckpoint: closing[closing.count - 1])
    }
    return closing
  }

  // MARK: Losses

  @Test(arguments: [(OTAStatus.Note.gap, RewindReason.gap), (.overrun, .overrun)])
  func bytesThatTheDeviceReportsAsLostAreSentAgain(
    _ note: OTAStatus.Note, _ reason: RewindReason
  ) throws {
    var transfer = try startAndSend(window: 500)
    let reaction = try transfer.received(status(200, window: 500, note), isAnswer: false)
    #expect(reaction == .resend(from: 200, because: reason))
    #expect(transfer.acknowledged == 200)
    #expect(sendAll(&transfer).first == 200..<300)
    #expect(transfer.next == 700)
  }

  @Test func anUnreportedLossIsDetectedByAQuery() throws {
    var transfer = try startAndSend(window: 500)
    #expect(try transfer.received(status(300, window: 500), isAnswer: false) == .proceed)
    let reaction = try transfer.received(status(300, window: 500), isAnswer: true)
    #expect(reaction == .resend(from: 300, because: .silence))
    #expect(transfer.sendable == 300..<400)
  }

  @Test func aSecondStatusOfTheSameLossHasNoEffect() throws {
    var transfer = try startAndSend(window: 500)
    let gap = status(200, window: 500, .gap)
    #expect(try transfer.received(gap, isAnswer: false) == .resend(from: 200, because: .gap))
    #expect(try transfer.received(gap, isAnswer: false) == .proceed)
    #expect(transfer.next == 200)
  }

  @Test func aStaleNotificationIsIgnored() throws {
    var transfer = try startAndSend(window: 500)
    _ = try transfer.received(status(400, window: 300), isAnswer: true)
    let before = (transfer.next, transfer.acknowledged, transfer.limit, transfer.verified)
    var stale = status(100, window: 65_535)
    #expect(try transfer.received(stale, isAnswer: false) == .proceed)
    stale.crc32 ^= 1
    #expect(try transfer.received(stale, isAnswer: false) == .proceed)
    #expect((transfer.next, transfer.acknowledged, transfer.limit, transfer.verified) == before)
  }

  @Test func bytesThatTheDeviceHoldsAreNotSentAgain() throws {
    var transfer = try startAndSend(window: 500)
    _ = try transfer.received(status(200, window: 500), isAnswer: true)
    #expect(transfer.next == 200)
    _ = try transfer.received(status(500, window: 300), isAnswer: false)
    #expect(transfer.sendable == 500..<600)
  }

  @Test func anOffsetBeyondTheSentBytesViolatesTheProtocol() throws {
    var transfer = try startAndSend(window: 500)
    #expect {
      try transfer.received(status(501, window: 0), isAnswer: false)
    } throws: { error in
      guard case UpdateFault.protocolViolation(.upload, _) = error else { return false }
      return true
    }
  }

  @Test func anOffsetThatIsNeverAcceptedEndsTheUpload() throws {
    var transfer = start()
    let refusal = status(0, window: 300)
    _ = try transfer.received(refusal, isAnswer: true)
    for _ in 0..<OTATransfer.rewindsMaximum {
      _ = sendAll(&transfer)
      #expect(try transfer.received(refusal, isAnswer: true) == .resend(from: 0, because: .silence))
    }
    _ = sendAll(&transfer)
    let repeats = OTATransfer.rewindsMaximum + 1
    #expect(throws: UpdateFault.noProgress(atOffset: 0, repeats: repeats)) {
      try transfer.received(refusal, isAnswer: true)
    }
  }

  @Test func progressResetsTheCountOfRewinds() throws {
    var transfer = start()
    _ = try transfer.received(status(0, window: 200), isAnswer: true)
    for offset in stride(from: 0, to: 900, by: 100) {
      for _ in 0..<OTATransfer.rewindsMaximum {
        _ = sendAll(&transfer)
        _ = try transfer.received(status(offset, window: 200), isAnswer: true)
      }
      _ = sendAll(&transfer)
      _ = try transfer.received(status(offset + 100, window: 200), isAnswer: false)
    }
    #expect(transfer.verified == 900)
  }

  // MARK: Checksums

  @Test func aWrongChecksumDiscardsTheBytesAfterTheLastMatch() throws {
    var transfer = try startAndSend(window: 500)
    _ = try transfer.received(status(200, window: 500), isAnswer: false)
    #expect(
      try transfer.received(spoilt(400), isAnswer: false) == .discard(from: 200))
    #expect(transfer.verified == 200)
    try transfer.rewound(to: try position(0))
    #expect(transfer.next == 0 && transfer.verified == 0 && transfer.acknowledged == 0)
    #expect(transfer.sendable == nil, "a new Status reports the window")
  }

  @Test func theSizeOfWritesThatADeviceAcceptsIsReportedOnce() throws {
    var transfer = OTATransfer(prefixes: Self.image, startingAt: 0, chunk: 400)
    _ = try transfer.received(status(0, window: 800), isAnswer: true)
    for _ in 0..<OTATransfer.chunkLadder[0].rewinds {
      _ = sendAll(&transfer)
      _ = try transfer.received(status(0, window: 800), isAnswer: true)
    }
    let before = transfer.takeVerifiedCeiling()
    _ = sendAll(&transfer)
    _ = try transfer.received(status(240, window: 800), isAnswer: true)
    let found = transfer.takeVerifiedCeiling()
    let again = transfer.takeVerifiedCeiling()
    #expect([before, found, again] == [nil, OTATransfer.chunkLadder[0].chunk, nil])
  }

  @Test func aRepeatedlyDamagedBlockEndsTheUpload() throws {
    var transfer = try startAndSend(window: 500)
    for _ in 0..<OTATransfer.blockRepeatsMaximum {
      #expect(try transfer.received(spoilt(300), isAnswer: true) == .discard(from: 0))
      try transfer.rewound(to: try position(0))
      _ = try transfer.received(status(0, window: 500), isAnswer: true)
      _ = sendAll(&transfer)
    }
    let attempts = OTATransfer.blockRepeatsMaximum + 1
    #expect(throws: UpdateFault.blockKeepsFailing(atOffset: 0, attempts: attempts)) {
      try transfer.received(spoilt(300), isAnswer: true)
    }
  }

  @Test func damagedBlocksAtDifferentOffsetsEndTheUpload() throws {
    var transfer = try startAndSend(window: 500)
    #expect(throws: UpdateFault.self) {
      for round in 0..<1000 {
        let agreed = round.isMultiple(of: 2) ? 100 : 200
        _ = try transfer.received(status(agreed, window: 500), isAnswer: false)
        _ = try transfer.received(spoilt(400), isAnswer: false)
        try transfer.rewound(to: try position(0))
        _ = try transfer.received(status(0, window: 500), isAnswer: true)
        _ = sendAll(&transfer)
      }
    }
  }

  @Test func anInvalidAnswerToRewindEndsTheUpload() throws {
    for position in [try position(300), try position(0, crc32: 1)] {
      var transfer = try startAndSend(window: 500)
      _ = try transfer.received(status(200, window: 500), isAnswer: false)
      _ = try transfer.received(spoilt(400), isAnswer: false)
      #expect {
        try transfer.rewound(to: position)
      } throws: { error in
        guard case UpdateFault.blockKeepsFailing = error else { return false }
        return true
      }
    }
  }

  @Test func anImageWithAWrongChecksumIsNotComplete() throws {
    var transfer = start(at: 900)
    _ = try transfer.received(status(900, window: 500), isAnswer: true)
    _ = sendAll(&transfer)
    #expect(try transfer.received(spoilt(1000), isAnswer: false) == .discard(from: 900))
    #expect(!transfer.isComplete)
  }

  // MARK: Helpers of the scripts

  private func start(at offset: Int = 0) -> OTATransfer {
    OTATransfer(prefixes: Self.image, startingAt: offset, chunk: 100)
  }

  /// Returns a transfer that has filled its first window.
  private func startAndSend(window: Int) throws -> OTATransfer {
    var transfer = start()
    _ = try transfer.received(status(0, window: window), isAnswer: true)
    _ = sendAll(&transfer)
    return transfer
  }

  private func sendAll(_ transfer: inout OTATransfer) -> [Range<Int>] {
    var sent: [Range<Int>] = []
    while let range = transfer.sendable {
      transfer.sent(range)
      sent.append(range)
    }
    return sent
  }

  private func status(
    _ next: Int, window: Int, _ note: OTAStatus.Note = .none
  ) -> OTAStatus {
    OTAStatus(
      state: .receiving, note: note, window: window, nextOffset: next,
      crc32: Self.image.checksum(ofFirst: next), durableOffset: 0)
  }

  /// The status of a device that holds other data.
  private func spoilt(_ next: Int) -> OTAStatus {
    var status = status(next, window: 500)
    status.crc32 ^= 1
    return status
  }

  private func position(_ next: Int, crc32: UInt32? = nil) throws -> OTAPosition {
    var writer = ByteWriter()
    writer.uint32(UInt32(next))
    writer.uint32(crc32 ?? Self.image.checksum(ofFirst: next))
    return try OTAPosition(decoding: writer.bytes)
  }
}
