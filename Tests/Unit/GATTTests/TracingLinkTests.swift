import OtaflashATT
import OtaflashGATT
import OtaflashSimulation
import Synchronization
import Testing

@Suite struct TracingLinkTests {
  @Test func everyPDUIsReportedOnceInOrderAndPassesUnchanged() throws {
    let crossings = try VirtualTimeline().run { clock -> [TracingLink.Crossing] in
      let reported = Mutex<[TracingLink.Crossing]>([])
      let (near, far) = MemoryLink.pair(capacity: 2)
      let link = TracingLink(near, clock: clock) { crossing in
        reported.withLock { $0.append(crossing) }
      }
      do throws(LinkLoss) {
        try await link.send([0x0A, 0x03, 0x00])
        #expect(try await far.receive() == [0x0A, 0x03, 0x00])
        await clock.pause(for: .milliseconds(15))
        try await far.send([0x0B, 0x64])
        #expect(try await link.receive() == [0x0B, 0x64])
      } catch {
        Issue.record(error)
      }
      return reported.withLock { $0 }
    }
    #expect(
      crossings == [
        TracingLink.Crossing(direction: .sent, instant: .start, pdu: [0x0A, 0x03, 0x00]),
        TracingLink.Crossing(
          direction: .received, instant: LinkInstant(elapsed: .milliseconds(15)),
          pdu: [0x0B, 0x64]),
      ])
  }

  @Test func aLossIsPassedOnAndNotReported() throws {
    let reported = try VirtualTimeline().run { clock -> Int in
      let count = Counter()
      let (near, far) = MemoryLink.pair(capacity: 2)
      let link = TracingLink(near, clock: clock) { _ in _ = count.take() }
      far.close()
      await #expect(throws: LinkLoss.closedByPeer) { try await link.receive() }
      return count.value
    }
    #expect(reported == 0)
  }

  @Test func aDialerReportsTheStepsOfItsConnectionsAndTracesThem() throws {
    let (steps, pdus) = try VirtualTimeline().run { clock -> ([ConnectionState], Int) in
      let steps = Mutex<[ConnectionState]>([])
      let pdus = Mutex(0)
      let (near, far) = MemoryLink.pair(capacity: 4)
      let dialer = Dialer { () async throws(ConnectFault) -> any Link in near }
        .observing { step in steps.withLock { $0.append(step.to) } }
        .tracing(on: clock) { _ in pdus.withLock { $0 += 1 } }
      await withPeripheral(dialer, clock: clock) { peripheral in
        let lost = Command<PeripheralTurn, Void, ConnectFault>("lose") {
          (turn) async throws(ConnectFault) in
          _ = try await turn.connect()
          far.loseSupervision()
          #expect(await turn.waitUntilLost(within: .seconds(1)))
        }
        await #expect(throws: Never.self) { try await peripheral.perform(lost) }
      }
      return (steps.withLock { $0 }, pdus.withLock { $0 })
    }
    #expect(steps == [.connecting, .connected, .idle])
    #expect(pdus == 0)
  }
}
