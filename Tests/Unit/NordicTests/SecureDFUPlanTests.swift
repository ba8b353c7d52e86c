import OtaflashATT
import OtaflashFirmware
import Testing

@testable import OtaflashUpdate

/// The image in the examples of the protocol: the bytes 00…FF, repeated.
func ramp(_ count: Int) -> PrefixChecksums {
  PrefixChecksums((0..<count).map { UInt8(truncatingIfNeeded: $0) })
}

extension SecureDFUProgress {
  /// The progress that a correct bootloader reports if it holds the first `offset` bytes of
  /// `image`.
  init(of image: PrefixChecksums, upTo offset: Int) {
    self.init(offset: offset, crc32: image.checksum(ofFirst: offset))
  }
}

@Suite struct SecureDFUObjectsTests {
  @Test(arguments: [(23, 20), (26, 20), (27, 24), (185, 180), (247, 244), (498, 492), (517, 512)])
  func aPacketIsAWriteOfCompleteWords(_ mtu: Int, _ size: Int) {
    #expect(SecureDFUObjects.packetSize(mtu: mtu) == size)
  }

  @Test(arguments: [(100, 100), (103, 100), (3, 4), (1000, 244)])
  func aPacketDoesNotExceedTheRequestedLength(_ limit: Int, _ size: Int) {
    #expect(SecureDFUObjects.packetSize(mtu: 247, limit: limit) == size)
  }

  /// The size that fills connection events is used, unless this size would require receipts.
  @Test(arguments: [
    (498, 479, 476), (498, 427, 424), (498, 120, 492), (247, 239, 244), (23, 19, 20),
  ])
  func aPacketFillsEventsWithoutReceipts(_ mtu: Int, _ commandSize: Int, _ size: Int) {
    #expect(SecureDFUObjects.packetSize(mtu: mtu, filling: commandSize) == size)
  }

  @Test func anImageIsDividedIntoObjectsAndPackets() {
    let objects = SecureDFUObjects(total: 10_000, objectSize: 4096, packetSize: 244)
    #expect(objects.object(holding: 0) == 0..<4096)
    #expect(objects.object(holding: 4095) == 0..<4096)
    #expect(objects.object(holding: 4096) == 4096..<8192)
    #expect(objects.object(holding: 9_999) == 8192..<10_000)
    #expect(objects.packet(at: 0, in: 0..<4096) == 0..<244)
    #expect(objects.packet(at: 3904, in: 0..<4096) == 3904..<4096)
  }
}

@Suite struct SecureDFUReceiptsTests {
  @Test func receiptsAreRequiredOnlyForShortPackets() {
    #expect(SecureDFUReceipts(packetSize: 244).interval == 0)
    #expect(SecureDFUReceipts(packetSize: 492).interval == 0)
    #expect(SecureDFUReceipts(packetSize: 240).interval == 12)
    #expect(SecureDFUReceipts(packetSize: 20).interval == 12)
  }

  @Test func aReceiptIsDueAfterEveryInterval() {
    var receipts = SecureDFUReceipts(interval: 3)
    for _ in 0..<2 { receipts.packetSent() }
    #expect(!receipts.isDue)
    receipts.packetSent()
    #expect(receipts.isDue)
    receipts.received()
    #expect(!receipts.isDue)
    for _ in 0..<7 { receipts.packetSent() }
    #expect(receipts.isDue)
    receipts.giveUp()
    #expect(!receipts.isDue)
    for _ in 0..<2 { receipts.packetSent() }
    #expect(receipts.isDue)
    receipts.restart()
    #expect(!receipts.isDue)
  }

  @Test func withoutReceiptsNoReceiptIsDue() {
    var receipts = SecureDFUReceipts(interval: 0)
    for _ in 0..<100 { receipts.packetSent() }
    #expect(!receipts.isDue)
    receipts.giveUp()
    #expect(!receipts.isDue)
  }
}

@Suite struct SecureDFUEraseWaitTests {
  @Test func aLossDoublesTheWaitAndSuccessReducesItSlowly() {
    var wait = SecureDFUEraseWait()
    #expect(wait.duration == .milliseconds(90))
    wait.missed()
    wait.missed()
    #expect(wait.duration == .milliseconds(360))
    wait.held()
    #expect(wait.duration == .milliseconds(315))
    for _ in 0..<20 { wait.held() }
    #expect(wait.duration == .milliseconds(90), "never below the data sheet's time")
    for _ in 0..<20 { wait.missed() }
    #expect(wait.duration == SecureDFUEraseWait.maximum)
  }

  @Test func aShorterQueueIsRememberedPermanently() {
    var wait = SecureDFUEraseWait()
    #expect(wait.packets == 15)
    wait.overflowed()
    wait.held()
    #expect(wait.packets == 0)
    let erased = LinkInstant(elapsed: .seconds(1))
    #expect(wait.opening(behind: 0, of: 20, erased: erased) == erased)
  }

  @Test func packetsWaitForAFlashThatIsSlowerThanTheAir() {
    var wait = SecureDFUEraseWait()
    let erased = LinkInstant(elapsed: .seconds(1))
    #expect(wait.opening(behind: 14, of: 20, erased: erased) == nil)
    #expect(wait.opening(behind: 200, of: 20, erased: erased) == erased)
    wait.overflowed()
    // 100 µs per word.
    #expect(
      wait.opening(behind: 10, of: 20, erased: erased) == erased.advanced(by: .milliseconds(5)))
    for _ in 0..<9 { wait.overflowed() }
    #expect(wait.paceByByte == SecureDFUEraseWait.paceMaximum)
  }
}

@Suite struct SecureDFUStandingTests {
  static let image = ramp(10_000)

  static func standing(_ offset: Int, _ crc32: UInt32? = nil) -> SecureDFUResumeState {
    let crc32 = crc32 ?? image.checksum(ofFirst: min(offset, image.count))
    return SecureDFUResumeState(
      SecureDFUSelection(
        sizeMaximum: 4096, progress: SecureDFUProgress(offset: offset, crc32: crc32)),
      of: image)
  }

  @Test(arguments: [
    (0, SecureDFUResumeState.before(0)), (4, .inside(4)), (4092, .inside(4092)),
    (4096, .behind(4096)), (8192, .behind(8192)), (9996, .inside(9996)),
    (10_000, .behind(10_000)),
  ])
  func theSameImageIsResumed(_ offset: Int, _ expected: SecureDFUResumeState) {
    #expect(Self.standing(offset) == expected)
    #expect(expected.offset == offset)
  }

  @Test(arguments: [
    (4, 0), (4096, 0), (4100, 4096), (8192, 4096), (9996, 8192), (10_000, 8192),
  ])
  func differentBytesDiscardTheUncertainObject(_ offset: Int, _ start: Int) {
    #expect(Self.standing(offset, 0xBAD) == .differing(from: start))
  }

  @Test func anIncompleteWordDiscardsTheObject() {
    #expect(Self.standing(4098) == .before(4096))
  }

  @Test(arguments: [10_001, 1 << 31])
  func moreBytesThanTheImageAreNotResumed(_ offset: Int) {
    #expect(Self.standing(offset, 0) == .differing(from: 0))
  }

  @Test func anInitPacketIsComparedAndSent() {
    let packet = ramp(141)
    func standing(_ offset: Int, _ crc32: UInt32) -> SecureDFUInitStanding {
      SecureDFUInitStanding(SecureDFUProgress(offset: offset, crc32: crc32), of: packet)
    }
    #expect(standing(0, 0) == .absent)
    #expect(standing(40, packet.checksum(ofFirst: 40)) == .partial(40))
    #expect(standing(141, packet.checksum(ofFirst: 141)) == .whole)
    #expect(standing(40, 1) == .absent)
    #expect(standing(141, 1) == .absent)
    #expect(standing(142, packet.checksum(ofFirst: 141)) == .absent)
  }
}
