import Elsewhere
import OtaflashGATT
import Testing

/// The requirements of `Link`, with one test for each. To test a custom link, use it in place of
/// this link.
@Suite struct OwnLinkTests {
  @Test func pdusArriveCompleteAndInOrder() async throws {
    let (host, device) = OwnLink.pair()
    try await host.send([1])
    try await host.send([2, 2])
    #expect(try await device.receive() == [1])
    #expect(try await device.receive() == [2, 2])
  }

  @Test func sendWaitsWhileTheQueueIsFull() async throws {
    let (host, device) = OwnLink.pair(capacity: 1)
    try await host.send([1])
    async let second: Void = host.send([2])
    #expect(try await device.receive() == [1])
    #expect(try await device.receive() == [2])
    try await second
  }

  @Test func aCancelledReceiveLeavesTheLinkUsable() async throws {
    let (host, device) = OwnLink.pair()
    let waiting = Task { () async throws(LinkLoss) -> [UInt8] in try await device.receive() }
    waiting.cancel()
    await #expect(throws: LinkLoss.cancelled) { try await waiting.value }
    try await host.send([7])
    #expect(try await device.receive() == [7])
  }

  @Test func closingEndsEveryWaitOnBothSides() async throws {
    let (host, device) = OwnLink.pair()
    try await host.send([1])
    let waiting = Task { () async throws(LinkLoss) -> [UInt8] in try await host.receive() }
    host.close()
    await #expect(throws: LinkLoss.closedLocally) { try await waiting.value }
    await #expect(throws: LinkLoss.closedLocally) { try await host.send([2]) }
    // Earlier PDUs are still delivered, and the loss is thrown again each time.
    #expect(try await device.receive() == [1])
    await #expect(throws: LinkLoss.closedByPeer) { try await device.receive() }
    await #expect(throws: LinkLoss.closedByPeer) { try await device.receive() }
    host.close()
  }

  @Test func aPDUThatIsTooLongIsNotSent() async throws {
    let (host, device) = OwnLink.pair(maximumPDUSize: 23)
    await #expect(throws: LinkLoss.tooLarge(bytes: 24, limit: 23)) {
      try await host.send([UInt8](repeating: 0, count: 24))
    }
    try await host.send([1])
    #expect(try await device.receive() == [1])
  }
}
