import OtaflashATT
import OtaflashGATT
import OtaflashSimulation
import Synchronization
import Testing

/// Tests of the PDUs that the server receives when observers are added and removed. The
/// configuration of the value with handle 3 has handle 4.
@Suite struct SubscriptionTests {
  private static let level = DiscoveredCharacteristic(
    uuid: BluetoothUUID(0x2A19), properties: [.notify, .read], declaration: AttributeHandle(2),
    value: AttributeHandle(3), last: AttributeHandle(4))
  private static let beginning: [ScriptedPeer.Step] = [
    .on("04 04 00 04 00", "05 01 04 00 02 29"), .on("12 04 00 01 00", "13"),
  ]
  private static let silence = ScriptedPeer.Step.on("12 04 00 00 00", "13")
  private static let read = ScriptedPeer.Step.on("0A 03 00", "0B 2A")

  private static func read(_ client: GATTClient) async -> Result<[UInt8], GATTFault> {
    await outcome { () async throws(GATTFault) in
      try await client.read(handle: AttributeHandle(3))
    }
  }

  private static func end(of stream: NotificationStream) async -> GATTFault? {
    do throws(GATTFault) {
      while try await stream.next() != nil {}
      return nil
    } catch {
      return error
    }
  }

  @Test func theLastReaderThatLeavesWritesTheConfigurationBack() throws {
    let result = try withScript(Self.beginning + [Self.silence, Self.read]) {
      client, _, clock -> Result<[UInt8], GATTFault> in
      let subscribed = await outcome { () async throws(GATTFault) in
        _ = try await client.subscribe(to: Self.level)
      }
      await clock.pause(for: .seconds(1))
      if case .failure(let fault) = subscribed { return .failure(fault) }
      return await Self.read(client)
    }
    #expect(result == .success([0x2A]))
  }

  @Test func aBreakOutOfTheLoopUnsubscribes() throws {
    let notified = ScriptedPeer.Step.on("12 04 00 01 00", "13", "1B 03 00 07")
    let result = try withScript([Self.beginning[0], notified, Self.silence, Self.read]) {
      client, _, clock in
      let values = await outcome { () async throws(GATTFault) -> [UInt8] in
        for try await element in try await client.subscribe(to: Self.level) {
          return element.value
        }
        return []
      }
      await clock.pause(for: .seconds(1))
      return [values, await Self.read(client)]
    }
    #expect(result == [.success([7]), .success([0x2A])])
  }

  @Test func theFirstOfTwoReadersThatLeavesDoesNotUnsubscribe() throws {
    let seen = try withScript(
      Self.beginning + [.on("0A 03 00", "1B 03 00 07", "0B 2A"), Self.silence, Self.read]
    ) { client, _, clock in
      await outcome { () async throws(GATTFault) -> [UInt8] in
        var staying: NotificationStream? = try await client.subscribe(to: Self.level)
        _ = try await client.subscribe(to: Self.level)
        await clock.pause(for: .seconds(1))
        _ = try await client.read(handle: AttributeHandle(3))
        let value = staying?.poll()?.value ?? []
        staying = nil
        await clock.pause(for: .seconds(1))
        return value + (try await client.read(handle: AttributeHandle(3)))
      }
    }
    #expect(seen == .success([7, 0x2A]))
  }

  @Test func aReaderBeforeTheWriteFindsTheSubscriptionUnchanged() throws {
    let seen = try withScript(Self.beginning + [.on("0A 03 00", "1B 03 00 07", "0B 2A")]) {
      client, _, clock in
      await outcome { () async throws(GATTFault) -> [UInt8] in
        _ = try await client.subscribe(to: Self.level)
        let next = try await client.subscribe(to: Self.level)
        await clock.pause(for: .seconds(1))
        _ = try await client.read(handle: AttributeHandle(3))
        return next.poll()?.value ?? []
      }
    }
    #expect(seen == .success([7]))
  }

  /// The subscriber is cancelled during the request: the server will store the configuration, so
  /// the client resets it.
  @Test func aSubscriptionCancelledHalfwayIsReset() throws {
    let seen = try withScript([
      Self.beginning[0], .on("12 04 00 01 00", "13").after(.seconds(2)), Self.silence, Self.read,
    ]) { client, _, clock in
      let cancelled = await outcome { () async throws(GATTFault) in
        try await withDeadline(
          clock.now.advanced(by: .seconds(1)), on: clock, orThrow: .timedOut(after: .seconds(1))
        ) {
          () async throws(GATTFault) in _ = try await client.subscribe(to: Self.level)
        }
      }
      await clock.pause(for: .seconds(5))
      return (cancelled.map { true }, await Self.read(client))
    }
    #expect(seen.0 == .failure(.timedOut(after: .seconds(1))))
    #expect(seen.1 == .success([0x2A]))
  }

  @Test func unsubscribingEndsEveryStreamWithItsReasonAndSendsNothingTwice() throws {
    let seen = try withScript(Self.beginning + [Self.silence, Self.read]) { client, _, _ in
      await outcome { () async throws(GATTFault) -> [GATTFault?] in
        let one = try await client.subscribe(to: Self.level)
        let other = try await client.subscribe(to: Self.level)
        try await client.unsubscribe(from: Self.level)
        try await client.unsubscribe(from: Self.level)
        _ = try await client.read(handle: AttributeHandle(3))
        return [await Self.end(of: one), await Self.end(of: other)]
      }
    }
    #expect(seen == .success([.unsubscribed, .unsubscribed]))
  }

  @Test func aServerThatRefusesToUnsubscribeReceivesOneRequest() throws {
    let refusal = ScriptedPeer.Step.on("12 04 00 00 00", "01 12 04 00 0E")
    let result = try withScript(Self.beginning + [refusal, Self.read]) { client, _, clock in
      _ = await outcome { () async throws(GATTFault) in
        _ = try await client.subscribe(to: Self.level)
      }
      await clock.pause(for: .seconds(1))
      return await Self.read(client)
    }
    #expect(result == .success([0x2A]))
  }

  @Test func nothingIsSentOnALinkThatHasEnded() throws {
    let sent = Counter()
    let fault = try withScript(Self.beginning) { dialer, clock in
      dialer.tracing(on: clock) { if $0.direction == .sent { _ = sent.take() } }
    } _: { client, far, clock in
      let fault = await outcome { () async throws(GATTFault) in
        let stream = try await client.subscribe(to: Self.level)
        far.loseSupervision()
        return await Self.end(of: stream)
      }
      await clock.pause(for: .seconds(1))
      return fault
    }
    #expect(fault == .success(.linkLost(.supervisionTimeout)))
    #expect(sent.value == 2)
  }

  /// Generic Attribute has the handles 1…4, and Service Changed has handle 3. The next service
  /// starts at handle 5.
  @Test func serviceChangedIsSubscribedToAndEmptiesTheCache() throws {
    let seen = try withScript([
      .on("10 01 00 FF FF 00 28", "11 06 01 00 04 00 01 18 05 00 FF FF 0F 18"),
      .on("08 01 00 04 00 03 28", "09 07 02 00 20 03 00 05 2A"),
      .on("04 04 00 04 00", "05 01 04 00 02 29"),
      .on("12 04 00 02 00", "13", "1D 03 00 05 00 FF FF"), .on("1E"),
      .on("10 01 00 FF FF 00 28", "11 06 05 00 FF FF 0D 18"),
    ]) { client, _, clock in
      await outcome { () async throws(GATTFault) -> [[BluetoothUUID]] in
        let first = try await client.services().map(\.uuid)
        await clock.pause(for: .seconds(1))
        return [first, try await client.services().map(\.uuid)]
      }
    }
    let expected = [[0x1801, 0x180F], [0x180D]].map { $0.map { BluetoothUUID(UInt16($0)) } }
    #expect(seen == .success(expected))
  }

  /// A subscription to Service Changed must not cause pairing.
  @Test func serviceChangedThatRequiresAPairingIsSkipped() throws {
    let services = try withScript([
      .on("10 01 00 FF FF 00 28", "11 06 01 00 FF FF 01 18"),
      .on("08 01 00 FF FF 03 28", "09 07 02 00 20 03 00 05 2A"),
      .on("08 03 00 FF FF 03 28", "01 08 03 00 0A"),
      .on("04 04 00 FF FF", "05 01 04 00 02 29"), .on("04 05 00 FF FF", "01 04 05 00 0A"),
      .on("12 04 00 02 00", "01 12 04 00 0F"), Self.read,
    ]) { client, _, clock in
      _ = await outcome { () async throws(GATTFault) in try await client.services() }
      await clock.pause(for: .seconds(1))
      return await Self.read(client)
    }
    #expect(services == .success([0x2A]))
  }

  @Test func aReadOnlyConnectionWritesNothing() throws {
    let (services, complaint) = try VirtualTimeline().run { clock -> (Int, String?) in
      let (near, far) = MemoryLink.pair(capacity: 8)
      let script = ScriptedPeer([
        .on("10 01 00 FF FF 00 28", "11 06 01 00 FF FF 01 18"), Self.read,
      ])
      async let complaint = script.play(on: far)
      let dialer = Dialer { () async throws(ConnectFault) -> any Link in near }
      let look = Command<PeripheralTurn, Int, PeripheralFault>("look") {
        (turn) async throws(PeripheralFault) -> Int in
        do {
          let client = try await turn.connect(followsServiceChanges: false)
          let services = try await client.services()
          await clock.pause(for: .seconds(1))
          _ = try await client.read(handle: AttributeHandle(3))
          return services.count
        } catch {
          throw .gatt(.cancelled)
        }
      }
      let services = await withPeripheral(dialer, clock: clock) { peripheral -> Int in
        do { return try await peripheral.perform(look) } catch { return 0 }
      }
      return (services, await complaint)
    }
    #expect(services == 1)
    #expect(complaint == nil)
  }

  @Test func thePeripheralUnsubscribesInItsTurn() throws {
    let (seen, complaint) = try VirtualTimeline().run { clock -> ([String], String?) in
      let (near, far) = MemoryLink.pair(capacity: 8)
      let script = ScriptedPeer(
        [
          .on("10 01 00 FF FF 00 28", "11 06 01 00 04 00 0F 18"),
          .on("10 05 00 FF FF 00 28", "01 10 05 00 0A"),
          .on("08 01 00 04 00 03 28", "09 07 02 00 12 03 00 19 2A"),
        ] + Self.beginning + [Self.silence])
      async let complaint = script.play(on: far)
      let dialer = Dialer { () async throws(ConnectFault) -> any Link in near }
      let seen = await withPeripheral(dialer, clock: clock) { peripheral -> [String] in
        do throws(PeripheralFault) {
          // No subscription exists, so the call does not connect.
          try await peripheral.unsubscribe(
            from: BluetoothUUID(0x2A19), in: BluetoothUUID(0x180F))
          let before = peripheral.connectionState.rawValue
          let stream = try await peripheral.subscribe(
            to: BluetoothUUID(0x2A19), in: BluetoothUUID(0x180F))
          try await peripheral.unsubscribe(
            from: BluetoothUUID(0x2A19), in: BluetoothUUID(0x180F))
          return [before, "\(await Self.end(of: stream) == .unsubscribed)"]
        } catch {
          return ["\(error)"]
        }
      }
      return (seen, await complaint)
    }
    #expect(seen == ["idle", "true"])
    #expect(complaint == nil)
  }
}
