import OtaflashATT
import OtaflashGATT
import OtaflashSimulation
import Synchronization
import Testing

/// Tests that captures have the layout of the BTSnoop format and of the Core Specification.
@Suite struct CaptureTests {
  static let peer = CapturedPeer(littleEndian: [1, 0, 0, 0xEE, 0xFF, 0xC0], isRandom: true)
  /// 2023-11-14 22:13:20 UTC, in microseconds since 1970.
  static let now: Int64 = 1_700_000_000_000_000

  private struct Record: Equatable {
    let flags: UInt32
    let microseconds: Int64
    let packet: [UInt8]
  }

  /// Reads the records as another program does.
  private static func records(_ bytes: [UInt8]) -> [Record] {
    func number(_ slice: ArraySlice<UInt8>) -> UInt64 { slice.reduce(0) { $0 << 8 | UInt64($1) } }
    var records: [Record] = []
    var rest = bytes[...]
    while rest.count >= 24 {
      let head = Array(rest.prefix(24))
      let length = Int(number(head[0..<4]))
      #expect(number(head[4..<8]) == UInt64(length), "nothing is truncated")
      #expect(number(head[12..<16]) == 0, "nothing is dropped")
      records.append(
        Record(
          flags: UInt32(number(head[8..<12])),
          microseconds: Int64(number(head[16..<24])) - 0x00DC_DDB3_0F2F_8000,
          packet: Array(rest.dropFirst(24).prefix(length))))
      rest = rest.dropFirst(24 + length)
    }
    #expect(rest.isEmpty, "a record is incomplete")
    return records
  }

  @Test func theFileStartsWithTheHeaderOfTheFormat() {
    #expect(
      BTSnoop.fileHeader == [
        0x62, 0x74, 0x73, 0x6E, 0x6F, 0x6F, 0x70, 0x00, 0, 0, 0, 1, 0, 0, 0x03, 0xEA,
      ])
  }

  @Test func aConnectionIsRecordedFromItsStartToItsEnd() throws {
    let bytes = try VirtualTimeline().run { clock -> [UInt8] in
      let log = Mutex<[UInt8]>([])
      let capture = LinkCapture { record in log.withLock { $0 += record } }
      let (near, far) = MemoryLink.pair(capacity: 2)
      let dialer = Dialer { () async throws(ConnectFault) -> any Link in near }
      await Self.exchange(over: dialer, with: far, into: capture, on: clock)
      return log.withLock { $0 }
    }
    let connected: [UInt8] =
      [0x04, 0x3E, 0x13, 0x01, 0x00, 0x00, 0x00, 0x00, 0x01, 1, 0, 0, 0xEE, 0xFF, 0xC0]
      + [0, 0, 0, 0, 0, 0, 0]
    #expect(
      Self.records(bytes) == [
        Record(flags: 3, microseconds: Self.now, packet: connected),
        // The record: ACL, handle 0, first packet from the host; L2CAP with 3 bytes on CID 4;
        // Exchange MTU.
        Record(
          flags: 0, microseconds: Self.now,
          packet: [0x02, 0x00, 0x00, 0x07, 0x00, 0x03, 0x00, 0x04, 0x00, 0x02, 0xF7, 0x00]),
        Record(
          flags: 1, microseconds: Self.now + 15_000,
          packet: [0x02, 0x00, 0x20, 0x07, 0x00, 0x03, 0x00, 0x04, 0x00, 0x03, 0x17, 0x00]),
        // Disconnection Complete after a supervision timeout.
        Record(
          flags: 3, microseconds: Self.now + 15_000,
          packet: [0x04, 0x05, 0x04, 0x00, 0x00, 0x00, 0x08]),
      ])
  }

  /// The client's bearer exchanges the MTU, receives the response after 15 ms, and then loses the
  /// link.
  private static func exchange(
    over dialer: Dialer, with far: MemoryLink, into capture: LinkCapture, on clock: any LinkClock
  ) async {
    guard let peer else {
      Issue.record("6 bytes are an address")
      return
    }
    let recorded = dialer.capturing(into: capture, as: peer, on: clock, now: now)
    await withPeripheral(recorded, clock: clock) { peripheral in
      let command = Command<PeripheralTurn, Void, ConnectFault>("exchange") {
        (turn) async throws(ConnectFault) in
        let client = try await turn.connect()
        async let mtu = client.requestMTU(247)
        do {
          #expect(try await far.receive() == [0x02, 0xF7, 0x00])
          await clock.pause(for: .milliseconds(15))
          try await far.send([0x03, 0x17, 0x00])
          #expect(try await mtu == 23)
        } catch {
          Issue.record(error)
        }
        far.loseSupervision()
        #expect(await turn.waitUntilLost(within: .seconds(1)))
      }
      await #expect(throws: Never.self) { try await peripheral.perform(command) }
    }
  }

  @Test func concurrentLinksHaveSeparateHandlesAndAFreedHandleIsReused() throws {
    let handles = try VirtualTimeline().run { clock -> [UInt8] in
      let log = Mutex<[UInt8]>([])
      let capture = LinkCapture { record in log.withLock { $0 += record } }
      let dialer = Dialer { () async throws(ConnectFault) -> any Link in
        MemoryLink.pair(capacity: 1).0
      }
      guard let peer = Self.peer else { return [] }
      let recorded = dialer.capturing(into: capture, as: peer, on: clock, now: Self.now)
      let once = Command<PeripheralTurn, Void, ConnectFault>("connect") {
        (turn) async throws(ConnectFault) in _ = try await turn.connect()
      }
      for _ in 0..<2 {
        await withPeripheral(recorded, clock: clock) { outer in
          await #expect(throws: Never.self) { try await outer.perform(once) }
          await withPeripheral(recorded, clock: clock) { inner in
            await #expect(throws: Never.self) { try await inner.perform(once) }
          }
        }
      }
      return Self.records(log.withLock { $0 }).map { $0.packet[1] == 0x3E ? $0.packet[5] : 0xFF }
    }
    // 0xFF marks an end in this test.
    #expect(handles == [0, 1, 0xFF, 0xFF, 0, 1, 0xFF, 0xFF])
  }

  @Test func aRestartedClockContinuesFromTheLatestRecord() throws {
    let log = Mutex<[UInt8]>([])
    let capture = LinkCapture { record in log.withLock { $0 += record } }
    for _ in 0..<2 {
      try VirtualTimeline().run { clock in
        let (near, far) = MemoryLink.pair(capacity: 2)
        let dialer = Dialer { () async throws(ConnectFault) -> any Link in near }
        await Self.exchange(over: dialer, with: far, into: capture, on: clock)
      }
    }
    let times = Self.records(log.withLock { $0 }).map { $0.microseconds - Self.now }
    #expect(times == [0, 0, 15_000, 15_000, 15_000, 15_000, 30_000, 30_000])
  }

  @Test func theLongestPDUIsNotFragmented() throws {
    let packet = try VirtualTimeline().run { clock -> [UInt8] in
      let log = Mutex<[UInt8]>([])
      let capture = LinkCapture { record in log.withLock { $0 += record } }
      let (near, far) = MemoryLink.pair(capacity: 2)
      guard let peer = Self.peer else { return [] }
      let dialer = Dialer { () async throws(ConnectFault) -> any Link in near }
        .capturing(into: capture, as: peer, on: clock, now: 0)
      await withPeripheral(dialer, clock: clock) { peripheral in
        let command = Command<PeripheralTurn, Void, ConnectFault>("notify") {
          (turn) async throws(ConnectFault) in
          _ = try await turn.connect()
          do { try await far.send([0x1B, 3, 0] + [UInt8](repeating: 7, count: 669)) } catch {
            Issue.record(error)
          }
          far.close()
          #expect(await turn.waitUntilLost(within: .seconds(1)))
        }
        await #expect(throws: Never.self) { try await peripheral.perform(command) }
      }
      return Self.records(log.withLock { $0 })[1].packet
    }
    // 672 bytes of PDU and 4 bytes of L2CAP header.
    #expect(packet.prefix(9) == [0x02, 0x00, 0x20, 0xA4, 0x02, 0xA0, 0x02, 0x04, 0x00])
    #expect(packet.count == 1 + 4 + 4 + 672)
  }
}
