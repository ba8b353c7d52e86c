import OtaflashGATT
import Testing

/// Tests of the guarantees of a link, with the link in memory.
@Suite(.timeLimit(.minutes(5))) struct MemoryLinkTests {
  @Test func pdusArriveCompleteAndInOrder() async throws {
    let (host, device) = MemoryLink.pair()
    try await host.send([1])
    try await host.send([2, 2])
    #expect(try await device.receive() == [1])
    #expect(try await device.receive() == [2, 2])
  }

  @Test func sendWaitsWhileTheQueueIsFull() async throws {
    let (host, device) = MemoryLink.pair(capacity: 1)
    try await host.send([1])
    async let second: Void = host.send([2])
    #expect(try await device.receive() == [1])
    try await second
    #expect(try await device.receive() == [2])
  }

  @Test func aFullQueueKeepsTheOrder() async throws {
    let (host, device) = MemoryLink.pair(capacity: 2)
    async let sent: Void = {
      for number in 0..<500 { try await host.send([UInt8(number & 0xFF), UInt8(number >> 8)]) }
    }()
    for number in 0..<500 {
      #expect(try await device.receive() == [UInt8(number & 0xFF), UInt8(number >> 8)])
    }
    try await sent
  }

  @Test func eachEndLearnsWhichEndClosedTheLink() async throws {
    let (host, device) = MemoryLink.pair()
    try await host.send([1])
    host.close()
    #expect(try await device.receive() == [1])
    for _ in 0..<2 {
      await #expect(throws: LinkLoss.closedByPeer) { try await device.receive() }
      await #expect(throws: LinkLoss.closedByPeer) { try await device.send([2]) }
      await #expect(throws: LinkLoss.closedLocally) { try await host.receive() }
      await #expect(throws: LinkLoss.closedLocally) { try await host.send([2]) }
    }
  }

  @Test func closingEndsTheWaitsOfBothEnds() async throws {
    let (host, device) = MemoryLink.pair(capacity: 1)
    try await host.send([1])
    let blocked = Task { try await host.send([2]) }
    let waiting = Task { try await host.receive() }
    device.close()
    await #expect(throws: LinkLoss.closedByPeer) { try await blocked.value }
    await #expect(throws: LinkLoss.closedByPeer) { try await waiting.value }
  }

  @Test func cancellationEndsAWaitButNotTheLink() async throws {
    let (host, device) = MemoryLink.pair(capacity: 1)
    let waiting = Task { try await host.receive() }
    waiting.cancel()
    await #expect(throws: LinkLoss.cancelled) { try await waiting.value }
    try await device.send([5])
    #expect(try await host.receive() == [5])
  }

  @Test func bothEndsDetectALostRadio() async throws {
    let (host, device) = MemoryLink.pair()
    device.loseSupervision()
    device.close()
    await #expect(throws: LinkLoss.supervisionTimeout) { try await host.receive() }
    await #expect(throws: LinkLoss.supervisionTimeout) { try await device.receive() }
  }

  @Test func aLongPDUIsNotSent() async throws {
    let (host, _) = MemoryLink.pair(maximumPDUSize: 23)
    await #expect(throws: LinkLoss.tooLarge(bytes: 24, limit: 23)) {
      try await host.send([UInt8](repeating: 0, count: 24))
    }
  }
}
