import OtaflashATT
import OtaflashGATT
import OtaflashSimulation
import Synchronization
import Testing

/// Tests that PDUs are sent without a suspension and in order if the transport can accept them
/// immediately.
@Suite struct OfferTests {
  @Test func offeredAndAwaitedPDUsKeepTheirOrder() throws {
    let received = try VirtualTimeline().run { clock -> [[UInt8]] in
      let (near, far) = MemoryLink.pair(capacity: 2)
      let bearer = ATTBearer(link: MoodyLink(near), clock: clock)
      return await withTaskGroup(of: [[UInt8]].self) { group in
        group.addTask {
          var received: [[UInt8]] = []
          do throws(LinkLoss) {
            while received.count < 101 { received.append(try await far.receive()) }
          } catch {
            Issue.record(error)
          }
          return received
        }
        do throws(GATTFault) {
          for number in 0...100 { try await bearer.command([0x52, 3, 0, UInt8(number)]) }
        } catch {
          Issue.record(error)
        }
        return await group.next() ?? []
      }
    }
    #expect(received == (0...100).map { [0x52, 3, 0, UInt8($0)] })
  }

  /// The commands are encoded one by one. Half of them wait for room, and each wait is reported.
  @Test func encodedCommandsKeepTheirOrder() throws {
    let (received, waits) = try VirtualTimeline().run { clock -> ([[UInt8]], Int) in
      let (near, far) = MemoryLink.pair(capacity: 2)
      let bearer = ATTBearer(link: MoodyLink(near), clock: clock)
      return await withTaskGroup(of: [[UInt8]].self) { group in
        group.addTask {
          var received: [[UInt8]] = []
          do throws(LinkLoss) {
            while received.count < 101 { received.append(try await far.receive()) }
          } catch {
            Issue.record(error)
          }
          return received
        }
        var (number, waits) = (0, 0)
        do throws(GATTFault) {
          try await bearer.sendCommands { pdu in
            guard number <= 100 else { return false }
            pdu = [0x52, 3, 0, UInt8(number)]
            number += 1
            return true
          } afterWait: { _ in
            waits += 1
          }
        } catch {
          Issue.record(error)
        }
        return (await group.next() ?? [], waits)
      }
    }
    #expect(received == (0...100).map { [0x52, 3, 0, UInt8($0)] })
    #expect(waits == 51)
  }

  @Test func nothingIsAcceptedWhileAnotherPDUWaits() throws {
    let (during, after, order) = try VirtualTimeline().run { clock -> (Bool, Bool, [[UInt8]]) in
      let link = StuckLink(clock: clock)
      let bearer = ATTBearer(link: link, clock: clock)
      return await withTaskGroup(of: Void.self) { group in
        group.addTask {
          await #expect(throws: Never.self) { try await bearer.command([0x52, 1, 0]) }
        }
        await clock.pause(for: .seconds(1))
        let during = offered([0x52, 2, 0], to: bearer)
        await group.waitForAll()
        let after = offered([0x52, 3, 0], to: bearer)
        return (during, after, link.sent)
      }
    }
    #expect(!during && after)
    #expect(order == [[0x52, 1, 0], [0x52, 3, 0]])
  }

  @Test func anEndedBearerAcceptsNothing() throws {
    try VirtualTimeline().run { clock in
      let (near, _) = MemoryLink.pair(capacity: 2)
      let bearer = ATTBearer(link: MoodyLink(near), clock: clock)
      bearer.end(because: .linkLost(.supervisionTimeout))
      #expect(!offered([0x52, 1, 0], to: bearer))
      await #expect(throws: GATTFault.linkLost(.supervisionTimeout)) {
        try await bearer.command([0x52, 1, 0])
      }
    }
  }
}

/// Offers the PDU to the bearer; returns whether the bearer accepted it immediately.
private func offered(_ pdu: [UInt8], to bearer: ATTBearer) -> Bool {
  do throws(GATTFault) { return try bearer.offer(pdu) } catch {
    Issue.record(error)
    return false
  }
}

/// A link that accepts every second offered PDU immediately.
private final class MoodyLink: Link {
  private let link: MemoryLink
  private let offers = Mutex(0)
  private let queue: Mutex<[[UInt8]]> = Mutex([])

  init(_ link: MemoryLink) { self.link = link }

  var maximumPDUSize: Int { link.maximumPDUSize }

  func offer(_ pdu: [UInt8]) throws(LinkLoss) -> Bool {
    let isTaken = offers.withLock { offers in
      offers += 1
      return offers.isMultiple(of: 2)
    }
    if isTaken { queue.withLock { $0.append(pdu) } }
    return isTaken
  }

  func send(_ pdu: [UInt8]) async throws(LinkLoss) {
    let before = queue.withLock { queue in
      defer { queue = [] }
      return queue
    }
    for earlier in before + [pdu] { try await link.send(earlier) }
  }

  func receive() async throws(LinkLoss) -> [UInt8] { try await link.receive() }
  func close() { link.close() }
}

/// A link that refuses the first offer and accepts all later offers immediately. A PDU that is sent
/// without an offer takes 10 s.
private final class StuckLink: Link {
  private let clock: VirtualClock
  private let state = Mutex((offers: 0, sent: [[UInt8]]()))

  init(clock: VirtualClock) { self.clock = clock }

  var maximumPDUSize: Int { 672 }
  var sent: [[UInt8]] { state.withLock { $0.sent } }

  func offer(_ pdu: [UInt8]) throws(LinkLoss) -> Bool {
    state.withLock { state in
      state.offers += 1
      guard state.offers > 1 else { return false }
      state.sent.append(pdu)
      return true
    }
  }

  func send(_ pdu: [UInt8]) async throws(LinkLoss) {
    await clock.pause(for: .seconds(10))
    state.withLock { $0.sent.append(pdu) }
  }

  func receive() async throws(LinkLoss) -> [UInt8] { throw .closedLocally }
  func close() {}
}
