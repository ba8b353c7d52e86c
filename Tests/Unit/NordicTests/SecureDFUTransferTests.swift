import OtaflashATT
import OtaflashFirmware
import Testing

@testable import OtaflashUpdate

@Suite struct SecureDFUTransferTests {
  static let image = ramp(5096)
  static let start = LinkInstant.start

  static func transfer(
    packetSize: Int = 244, standing: SecureDFUResumeState = .before(0)
  ) -> SecureDFUTransfer {
    SecureDFUTransfer(
      image: image,
      objects: SecureDFUObjects(total: image.count, objectSize: 4096, packetSize: packetSize),
      receipts: SecureDFUReceipts(packetSize: packetSize), standing: standing)
  }

  /// Sends packets until another step is due; returns the number of packets.
  static func sendAll(_ transfer: inout SecureDFUTransfer, at now: LinkInstant) -> Int {
    var count = 0
    while case .send(let packet) = transfer.step(at: now) {
      transfer.sent(packet)
      count += 1
    }
    return count
  }

  /// Sends an object including its waits; returns the time at which its checksum is due.
  static func sendObject(_ transfer: inout SecureDFUTransfer, from now: LinkInstant) -> LinkInstant
  {
    var now = now
    while true {
      _ = sendAll(&transfer, at: now)
      guard case .waitForErase(let opening) = transfer.step(at: now) else { return now }
      now = opening
    }
  }

  static func check(
    _ transfer: inout SecureDFUTransfer, _ offset: Int
  ) throws -> SecureDFUTransfer.Reaction {
    try transfer.checked(SecureDFUProgress(of: image, upTo: offset))
  }

  @Test func twoObjectsAreSentFromTheStart() throws {
    var transfer = Self.transfer()
    #expect(transfer.step(at: Self.start) == .create(size: 4096))
    transfer.created(at: Self.start)
    #expect(Self.sendAll(&transfer, at: Self.start) == 15)
    let erased = Self.start.advanced(by: .milliseconds(90))
    #expect(transfer.step(at: Self.start) == .waitForErase(until: erased))
    #expect(Self.sendAll(&transfer, at: erased) == 2)
    #expect(transfer.step(at: erased) == .askChecksum)
    #expect(try Self.check(&transfer, 4096) == .proceed)
    #expect(transfer.acknowledged == 4096)
    #expect(transfer.step(at: erased) == .execute)
    transfer.executed()
    #expect(transfer.step(at: erased) == .create(size: 1000))
    transfer.created(at: erased)
    #expect(Self.sendAll(&transfer, at: erased) == 5)
    #expect(try Self.check(&transfer, 5096) == .proceed)
    #expect(transfer.step(at: erased) == .complete, "the last object is executed to activate it")
    #expect(transfer.acknowledged == 5096)
  }

  @Test func aLostObjectIsSentAgainMoreSlowly() throws {
    var transfer = Self.transfer()
    var now = Self.start
    for attempt in 0..<3 {
      transfer.created(at: now)
      let wait = Duration.milliseconds(90 << attempt)
      _ = Self.sendAll(&transfer, at: now)
      #expect(transfer.step(at: now) == .waitForErase(until: now.advanced(by: wait)))
      let checked = Self.sendObject(&transfer, from: now)
      // The third time, the flash counts as slower than the air (100 µs per word), so all 17
      // packets are sent after the erase.
      let pace = Duration.microseconds(attempt < 2 ? 0 : 16 * 244 * 25)
      #expect(checked == now.advanced(by: wait + pace))
      now = checked
      #expect(try Self.check(&transfer, 3660) == .again(from: 0))
      #expect(transfer.acknowledged == 0)
      #expect(transfer.step(at: now) == .create(size: 4096))
    }
    transfer.created(at: now)
    _ = Self.sendObject(&transfer, from: now)
    #expect(
      throws: UpdateFault.imageRejected(
        expectedCRC32: 0xA291_2082, deviceCRC32: Self.image.checksum(ofFirst: 3660))
    ) { try Self.check(&transfer, 3660) }
  }

  @Test func theHostWaitsForAFullQueue() throws {
    var transfer = Self.transfer()
    var now = Self.start
    for wait in [180, 360, 720] {
      let isWorthIt = transfer.creationFailed(at: now)
      #expect(isWorthIt)
      let rest = now.advanced(by: .milliseconds(wait))
      #expect(transfer.step(at: now) == .waitForErase(until: rest))
      now = rest
      #expect(transfer.step(at: now) == .create(size: 4096))
    }
    let isWorthMore = transfer.creationFailed(at: now)
    #expect(!isWorthMore)
  }

  @Test func theRepetitionsAreCountedForEachObject() throws {
    var transfer = Self.transfer()
    let later = Self.start.advanced(by: .seconds(2))
    for object in [4096, 5096] {
      for _ in 0..<3 {
        transfer.created(at: Self.start)
        _ = Self.sendAll(&transfer, at: later)
        #expect(try Self.check(&transfer, object - 436) == .again(from: object == 4096 ? 0 : 4096))
      }
      transfer.created(at: Self.start)
      _ = Self.sendAll(&transfer, at: later)
      #expect(try Self.check(&transfer, object) == .proceed)
      if object == 4096 { transfer.executed() }
    }
    #expect(transfer.step(at: later) == .complete)
  }

  @Test func theRestOfAnObjectNeedsNoErase() throws {
    var transfer = Self.transfer(standing: .inside(400))
    #expect(transfer.acknowledged == 400)
    #expect(transfer.step(at: Self.start) == .send(400..<644))
    #expect(Self.sendAll(&transfer, at: Self.start) == 16)
    #expect(try Self.check(&transfer, 4096) == .proceed)
    #expect(transfer.step(at: Self.start) == .execute)
  }

  @Test func atABoundaryThePreviousObjectMayBeComplete() {
    var transfer = Self.transfer(standing: .behind(4096))
    #expect(transfer.step(at: Self.start) == .execute)
    transfer.executed()
    #expect(transfer.step(at: Self.start) == .create(size: 1000))
  }

  @Test func anotherImageIsReplacedFromItsLastBoundary() throws {
    var transfer = Self.transfer(standing: .differing(from: 4096))
    #expect(transfer.step(at: Self.start) == .create(size: 1000))
    transfer.created(at: Self.start)
    #expect(transfer.step(at: Self.start) == .askChecksum)
    #expect(try Self.check(&transfer, 4096) == .proceed)
    #expect(transfer.step(at: Self.start) == .send(4096..<4340))
  }

  @Test func anInitPacketDiscardsAnExecutedImage() {
    var transfer = Self.transfer(standing: .differing(from: 4096))
    transfer.created(at: Self.start)
    #expect(
      throws: UpdateFault.imageRejected(expectedCRC32: 0xA291_2082, deviceCRC32: 0xBAD)
    ) { try transfer.checked(SecureDFUProgress(offset: 4096, crc32: 0xBAD)) }
  }

  @Test func afterTheImageOnlyTheActivationRemains() {
    #expect(Self.transfer(standing: .behind(5096)).step(at: Self.start) == .complete)
  }

  @Test func withShortPacketsEachReceiptIsAwaited() throws {
    var transfer = Self.transfer(packetSize: 20, standing: .inside(400))
    #expect(Self.sendAll(&transfer, at: Self.start) == 12)
    #expect(transfer.step(at: Self.start) == .waitForReceipt)
    let receipt = SecureDFUProgress(of: Self.image, upTo: 640)
    #expect(try transfer.received(receipt: receipt) == .proceed)
    #expect(transfer.acknowledged == 640)
    #expect(Self.sendAll(&transfer, at: Self.start) == 12)
    // A receipt that does not count a packet shows immediately that the object is lost.
    let short = SecureDFUProgress(of: Self.image, upTo: 860)
    #expect(try transfer.received(receipt: short) == .again(from: 0))
    #expect(transfer.step(at: Self.start) == .create(size: 4096))
  }

  @Test func theHostQueriesForAMissingReceipt() throws {
    var transfer = Self.transfer(packetSize: 20, standing: .inside(400))
    _ = Self.sendAll(&transfer, at: Self.start)
    transfer.doubt()
    #expect(transfer.step(at: Self.start) == .askChecksum)
    #expect(try Self.check(&transfer, 640) == .proceed)
    #expect(transfer.step(at: Self.start) == .send(640..<660))
    transfer.sent(640..<660)
    let late = SecureDFUProgress(of: Self.image, upTo: 640)
    #expect(try transfer.received(receipt: late) == .proceed)
    #expect(Self.sendAll(&transfer, at: Self.start) == 11, "the late receipt does not count")
  }

  /// On a slow link, the receipt arrives while the query is in flight, and serves as its answer.
  /// The real answer arrives when the next receipt is due.
  @Test func anAnswerWithoutNewInformationIsNotTheNextReceipt() throws {
    var transfer = Self.transfer(packetSize: 20, standing: .inside(400))
    _ = Self.sendAll(&transfer, at: Self.start)
    transfer.doubt()
    #expect(try Self.check(&transfer, 640) == .proceed)
    #expect(Self.sendAll(&transfer, at: Self.start) == 12)
    let late = SecureDFUProgress(of: Self.image, upTo: 640)
    #expect(try transfer.received(receipt: late) == .proceed)
    #expect(transfer.step(at: Self.start) == .waitForReceipt)
    transfer.doubt()
    #expect(try transfer.checked(late) == .proceed)
    #expect(transfer.step(at: Self.start) == .askChecksum)
    #expect(try transfer.checked(late) == .again(from: 0), "all sent data is lost")
  }

  @Test func theWaitCountsPacketsOfAnyLength() throws {
    var transfer = Self.transfer(packetSize: 20)
    transfer.created(at: Self.start)
    #expect(Self.sendAll(&transfer, at: Self.start) == 12)
    _ = try transfer.received(receipt: SecureDFUProgress(of: Self.image, upTo: 240))
    #expect(Self.sendAll(&transfer, at: Self.start) == 3)
    let erased = Self.start.advanced(by: .milliseconds(90))
    #expect(transfer.step(at: Self.start) == .waitForErase(until: erased))
  }

  @Test func aReceiptBetweenObjectsHasNoEffect() throws {
    var transfer = Self.transfer()
    #expect(
      try transfer.received(receipt: SecureDFUProgress(offset: 7, crc32: 7)) == .proceed)
    #expect(transfer.step(at: Self.start) == .create(size: 4096))
  }
}
