import OtaflashATT
import OtaflashGATT
import OtaflashTestSupport
import Testing

/// Tests of a request whose sender continues: commands can be sent during the request, but a
/// second request cannot.
@Suite struct PendingRequestTests {
  private static let data = DiscoveredCharacteristic(
    uuid: BluetoothUUID(0x2A19), properties: [.write, .writeWithoutResponse, .notify],
    declaration: AttributeHandle(2), value: AttributeHandle(3), last: AttributeHandle(4))

  /// An observation of the sender.
  private enum Seen: Equatable {
    case open, held, answered, failed(GATTFault), status([UInt8])
  }

  private static func seen(_ write: PendingRequest?) -> Seen {
    switch write?.poll() {
    case nil: .open
    case .success: .answered
    case .failure(let fault): .failed(fault)
    }
  }

  /// Core 5.4, Vol 3, Part F, 3.3.2: a command may be sent while a request is outstanding.
  @Test func commandsAreSentDuringAPendingRequest() throws {
    let found = try withScript([
      .on("12 03 00 01"), .on("52 03 00 02"), .on("52 03 00 03", "13"), .on("12 03 00 04", "13"),
    ]) { client, _, clock in
      await outcome { () async throws(GATTFault) -> [Seen] in
        let first = try await client.beginWrite(encoded: hex("12 03 00 01"), to: Self.data)
        var seen = [Self.seen(first)]
        let second = try await client.beginWrite(encoded: hex("12 03 00 FF"), to: Self.data)
        if second == nil { seen.append(.held) }
        try await client.command(encoded: hex("52 03 00 02"))
        try await client.command(encoded: hex("52 03 00 03"))
        await clock.pause(for: .seconds(1))
        seen.append(Self.seen(first))
        seen.append(Self.seen(first))
        try await client.write(encoded: hex("12 03 00 04"), to: Self.data)
        return seen
      }
    }
    #expect(found == .success([.open, .held, .answered, .open]))
  }

  /// A read is useful between commands, because its response shows that the server has processed
  /// the commands that were sent before the read.
  @Test func commandsAreSentDuringAPendingRead() throws {
    let found = try withScript([
      .on("52 03 00 01"), .on("0A 03 00"), .on("52 03 00 02", "0B 07"),
    ]) { client, _, clock in
      await outcome { () async throws(GATTFault) -> [Seen] in
        try await client.command(encoded: hex("52 03 00 01"))
        let first = try await client.beginRead(handle: Self.data.value)
        var seen = [Self.seen(first)]
        try await client.command(encoded: hex("52 03 00 02"))
        await clock.pause(for: .seconds(1))
        seen.append(Self.seen(first))
        return seen
      }
    }
    #expect(found == .success([.open, .answered]))
  }

  @Test func aRefusalIsReturnedByPolling() throws {
    let found = try withScript([.on("12 03 00 01", "01 12 03 00 81")]) { client, _, clock in
      await outcome { () async throws(GATTFault) -> Seen in
        let write = try await client.beginWrite(encoded: hex("12 03 00 01"), to: Self.data)
        await clock.pause(for: .seconds(1))
        return Self.seen(write)
      }
    }
    #expect(
      found
        == .success(.failed(.refused(AttributeReference(AttributeHandle(3)), ATTErrorCode(0x81)))))
  }

  @Test(arguments: ["13", "1B 03 00 07"])
  func theFirstEventEndsTheWait(_ pdu: String) throws {
    let found = try withScript([
      .on("04 04 00 04 00", "05 01 04 00 02 29"), .on("12 04 00 01 00", "13"),
      .on("12 03 00 01"), .unasked(pdu).after(.seconds(3)),
    ]) { client, _, clock in
      await outcome { () async throws(GATTFault) -> [Bool] in
        let values = try await client.subscribe(to: Self.data, as: .notifications)
        guard let write = try await client.beginWrite(encoded: hex("12 03 00 01"), to: Self.data)
        else { return [] }
        let began = clock.now
        try await write.arrival(orOf: values)
        let waited = began.duration(to: clock.now)
        return [waited == .seconds(3), Self.seen(write) == .answered, values.poll() != nil]
      }
    }
    #expect(found == .success([true, pdu == "13", pdu != "13"]))
  }

  @Test func aLostLinkEndsAPendingRequest() throws {
    let found = try withScript([.on("12 03 00 01")]) { client, far, clock in
      await outcome { () async throws(GATTFault) -> Seen in
        let write = try await client.beginWrite(encoded: hex("12 03 00 01"), to: Self.data)
        await clock.pause(for: .seconds(1))
        far.close()
        await clock.pause(for: .seconds(1))
        return Self.seen(write)
      }
    }
    #expect(found == .success(.failed(.linkLost(.closedByPeer))))
  }
}
