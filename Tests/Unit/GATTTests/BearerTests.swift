import OtaflashATT
import OtaflashGATT
import OtaflashSimulation
import Synchronization
import Testing

@Suite struct BearerTests {
  @Test func requestsOfThePeerAreAnswered() throws {
    let mtu = try withScript([
      // The peer exchanges the MTU, discovers, reads, and sends an unknown request.
      .unasked("02 9E 00"), .on("03 05 02", "10 01 00 FF FF 00 28"),
      .on("01 10 01 00 0A", "0A 03 00"), .on("01 0A 03 00 01", "3F"),
      .on("01 3F 00 00 06", "1D 04 00 01"), .on("1E"),
      // The host requests the same MTU that it sent in its response, because the two PDUs must
      // contain one value (3.4.2.2).
      .on("02 05 02", "03 00 02"),
    ]) { client, _, clock in
      await clock.pause(for: .seconds(1))
      let before = client.mtu
      _ = await outcome { () async throws(GATTFault) in try await client.requestMTU() }
      return before
    }
    #expect(mtu == 158)
  }

  /// The peer permits 517 bytes, but the host requested 185, which applies in both directions.
  @Test func aPeerThatExchangesSecondReceivesTheSameMTU() throws {
    let mtu = try withScript([
      .on("02 B9 00", "03 05 02"), .unasked("02 05 02"), .on("03 B9 00"),
    ]) { client, _, clock in
      _ = await outcome { () async throws(GATTFault) in try await client.requestMTU(185) }
      await clock.pause(for: .seconds(1))
      return client.mtu
    }
    #expect(mtu == 185)
  }

  /// The peer's request arrives before any request of the host, so the response can contain only
  /// the MTU that was passed to `connect`.
  @Test func aPeerThatExchangesFirstReceivesTheMTUOfTheConnection() throws {
    let (near, far) = MemoryLink.pair(capacity: 16)
    let complaint = try VirtualTimeline().run { clock -> String? in
      await withTaskGroup(of: String?.self) { group in
        group.addTask {
          await ScriptedPeer([.unasked("02 05 02"), .on("03 B9 00")]).play(on: far)
        }
        let dialer = Dialer { () async throws(ConnectFault) -> any Link in near }
        let connect = Command<PeripheralTurn, Void, ConnectFault>("connect") {
          (turn) async throws(ConnectFault) in
          _ = try await turn.connect(receiveMTU: ATTMTU(clamping: 185))
          await clock.pause(for: .seconds(1))
        }
        let failure = await withPeripheral(dialer, clock: clock) { peripheral -> String? in
          do throws(QueueFault<ConnectFault>) {
            try await peripheral.perform(connect)
            return nil
          } catch {
            return "\(error)"
          }
        }
        far.close()
        let unexpected = await group.next() ?? nil
        return failure ?? unexpected
      }
    }
    #expect(complaint == nil)
  }

  @Test func anUnknownCommandIsIgnored() throws {
    let result = try withScript([.unasked("7F 01"), .on("0A 01 00", "0B 05")]) { client, _, _ in
      await outcome { () async throws(GATTFault) in
        try await client.read(handle: AttributeHandle(1))
      }
    }
    #expect(result == .success([5]))
  }

  @Test func anUnsolicitedResponseEndsTheBearer() throws {
    let result = try withScript([.unasked("13")]) { client, _, clock in
      await clock.pause(for: .seconds(1))
      return await outcome { () async throws(GATTFault) in
        try await client.read(handle: AttributeHandle(1))
      }
    }
    guard case .failure(.violation) = result else {
      Issue.record("\(result)")
      return
    }
  }

  /// A request between the violation and the end of the bearer also fails.
  @Test func requestsDuringAViolationFail() throws {
    let results = try withScript([.unasked("13")]) { client, _, _ in
      await withTaskGroup(of: Bool.self) { group in
        for handle in 1...50 {
          group.addTask {
            for _ in 0..<handle { await Task.yield() }
            let result = await outcome { () async throws(GATTFault) in
              try await client.read(handle: AttributeHandle(UInt16(handle)))
            }
            if case .failure(.violation) = result { return true }
            return false
          }
        }
        return await group.reduce(into: []) { $0.append($1) }
      }
    }
    #expect(results.count == 50)
    #expect(results.allSatisfy { $0 })
  }

  @Test func aMissingResponsePoisonsTheBearerAfterTheTransactionTimeout() throws {
    let seen = try withScript([.on("0A 01 00")]) { client, _, clock in
      let before = clock.now
      let first = await outcome { () async throws(GATTFault) in
        try await client.read(handle: AttributeHandle(1))
      }
      let waited = before.duration(to: clock.now)
      let second = await outcome { () async throws(GATTFault) in
        try await client.read(handle: AttributeHandle(2))
      }
      return (first, second, waited)
    }
    #expect(seen.0 == .failure(.transactionTimedOut))
    #expect(seen.1 == .failure(.transactionTimedOut))
    #expect(seen.2 == .seconds(30))
  }

  @Test func aDialerShortensTheTransactionTimeoutAndItsDecoratorsKeepIt() throws {
    let waited = try withScript([.on("0A 01 00")]) { dialer, clock in
      dialer.answering(within: .seconds(4)).tracing(on: clock) { _ in }.observing { _ in }
    } _: { client, _, clock in
      let before = clock.now
      let result = await outcome { () async throws(GATTFault) in
        try await client.read(handle: AttributeHandle(1))
      }
      return (result, before.duration(to: clock.now))
    }
    #expect(waited.0 == .failure(.transactionTimedOut))
    #expect(waited.1 == .seconds(4))
  }

  /// The response arrives while the bearer ends because of the timeout. The caller must receive the
  /// timeout, and not a violation because of an unexpected response.
  @Test func aLateResponseIsNotAViolation() throws {
    let seen = try VirtualTimeline().run { clock in
      let link = LateLink([0x0B, 0x05])
      let bearer = ATTBearer(link: link, clock: clock)
      async let cause = bearer.run()
      let result = await outcome { () async throws(GATTFault) in
        try await bearer.request(.read(AttributeHandle(1)))
      }
      return (result, await cause, bearer.ended, link.hasDelivered.withLock(\.self))
    }
    #expect(seen.0 == .failure(.transactionTimedOut))
    #expect(seen.1 == .transactionTimedOut)
    #expect(seen.2 == .transactionTimedOut)
    #expect(seen.3)
  }

  @Test func everyPendingWaitFailsImmediatelyOnDisconnect() throws {
    let seen = try withScript([.on("0A 01 00")]) { client, far, clock in
      let start = clock.now
      let results = await withTaskGroup(of: Result<[UInt8], GATTFault>.self) { group in
        for handle in 1...5 {
          group.addTask {
            await outcome { () async throws(GATTFault) in
              try await client.read(handle: AttributeHandle(UInt16(handle)))
            }
          }
        }
        group.addTask {
          await clock.pause(for: .milliseconds(40))
          far.loseSupervision()
          return .failure(.linkLost(.supervisionTimeout))
        }
        return await group.reduce(into: []) { $0.append($1) }
      }
      return (results, start.duration(to: clock.now))
    }
    #expect(seen.0.count == 6)
    #expect(seen.0.allSatisfy { $0 == .failure(.linkLost(.supervisionTimeout)) })
    #expect(seen.1 == .milliseconds(40))
  }

  @Test func requestsOfSeveralTasksAreSentOneAtATimeInOrder() throws {
    let values = try withScript([
      .on("0A 01 00", "0B 01"), .on("0A 02 00", "0B 02"), .on("0A 03 00", "0B 03"),
    ]) { client, _, clock in
      await withTaskGroup(of: Result<[UInt8], GATTFault>.self) { group in
        for handle in 1...3 {
          group.addTask {
            await clock.pause(for: .milliseconds(handle))
            return await outcome { () async throws(GATTFault) in
              try await client.read(handle: AttributeHandle(UInt16(handle)))
            }
          }
        }
        return await group.reduce(into: []) { $0.append($1) }
      }
    }
    #expect(values == [.success([1]), .success([2]), .success([3])])
  }

  @Test func aCancelledRequestLeavesTheBearerUsable() throws {
    let seen = try withScript([
      .on("0A 01 00"), .unasked("0B 01"), .on("0A 02 00", "0B 02"),
    ]) { client, _, clock in
      let cancelled = await outcome { () async throws(GATTFault) -> [UInt8] in
        try await withDeadline(clock.now, on: clock, orThrow: .timedOut(after: .zero)) {
          () async throws(GATTFault) -> [UInt8] in
          try await client.read(handle: AttributeHandle(1))
        }
      }
      let next = await outcome { () async throws(GATTFault) in
        try await client.read(handle: AttributeHandle(2))
      }
      return (cancelled, next)
    }
    #expect(seen.1 == .success([2]))
  }

  @Test func aSlowObserverLosesItsOldestValuesAndReceivesTheirNumber() throws {
    let characteristic = DiscoveredCharacteristic(
      uuid: BluetoothUUID(0x2A19), properties: [.notify, .read], declaration: AttributeHandle(2),
      value: AttributeHandle(3), last: AttributeHandle(4))
    let flood = (1...6).map { "1B 03 00 0\($0)" } + ["0B 2A"]
    let seen = try withScript([
      .on("04 04 00 04 00", "05 01 04 00 02 29"), .on("12 04 00 01 00", "13"),
      ScriptedPeer.Step(expects: "0A 03 00", sends: flood),
    ]) { client, _, _ in
      await outcome { () async throws(GATTFault) in
        let slow = try await client.subscribe(to: characteristic, buffering: 2)
        let quick = try await client.subscribe(to: characteristic)
        // The peer sends many values before it responds, and the slow observer must not delay the
        // response.
        let read = try await client.read(handle: AttributeHandle(3))
        var slowValues: [NotificationStream.Element] = []
        while let value = slow.poll() { slowValues.append(value) }
        var quickValues: [UInt8] = []
        while let value = quick.poll() { quickValues += value.value }
        return (read, slowValues.map(\.value), slowValues.map(\.lostBefore), quickValues)
      }.map { "\($0)" }
    }
    #expect(seen == .success("([42], [[5], [6]], [4, 0], [1, 2, 3, 4, 5, 6])"))
  }
}

/// A link that delivers its only PDU when the host closes the link.
private final class LateLink: Link {
  let maximumPDUSize = 672
  let hasDelivered = Mutex(false)
  private let pdu: [UInt8]
  private let closed = OneShot<Void>()

  init(_ pdu: [UInt8]) { self.pdu = pdu }

  func send(_ pdu: [UInt8]) async throws(LinkLoss) {}

  func receive() async throws(LinkLoss) -> [UInt8] {
    let isFirst = hasDelivered.withLock { delivered in !delivered }
    guard isFirst else { throw .closedLocally }
    // The wait ends only by `close`, so a cancelled reader also receives the PDU.
    _ = await closed.wait()
    hasDelivered.withLock { $0 = true }
    return pdu
  }

  func close() { closed.fulfil(()) }
}
