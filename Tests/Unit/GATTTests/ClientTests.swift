import OtaflashATT
import OtaflashGATT
import Testing

@Suite struct ClientTests {
  @Test func mtuIsTheSmallerOfBoth() throws {
    let mtu = try withScript([.on("02 00 02", "03 F7 00")]) { client, _, _ in
      await outcome { () async throws(GATTFault) in try await client.requestMTU() }
    }
    #expect(mtu == .success(247))
  }

  @Test func aServerThatDoesNotKnowTheExchangeKeeps23() throws {
    let mtu = try withScript([.on("02 05 02", "01 02 00 00 06")]) { client, _, _ in
      await outcome { () async throws(GATTFault) in try await client.requestMTU(517) }
    }
    #expect(mtu == .success(23))
  }

  @Test func anMTUBelow23CountsAs23() throws {
    let mtu = try withScript([.on("02 05 02", "03 05 00")]) { client, _, _ in
      await outcome { () async throws(GATTFault) in try await client.requestMTU(517) }
    }
    #expect(mtu == .success(23))
  }

  @Test(arguments: [0, 22, 518])
  func anImpossibleMTUIsRefusedBeforeAnythingIsSent(_ desired: Int) throws {
    let mtu = try withScript([]) { client, _, _ in
      await outcome { () async throws(GATTFault) in try await client.requestMTU(desired) }
    }
    #expect(mtu == .failure(.mtuOutOfRange(desired)))
  }

  @Test func readsALongValueInParts() throws {
    let first = "0B" + String(repeating: " AA", count: 22)
    let value = try withScript([
      .on("0A 03 00", first), .on("0C 03 00 16 00", "0D BB BB"),
    ]) { client, _, _ in
      await outcome { () async throws(GATTFault) in
        try await client.read(handle: AttributeHandle(3))
      }
    }
    #expect(value == .success([UInt8](repeating: 0xAA, count: 22) + [0xBB, 0xBB]))
  }

  @Test func aValueOfExactlyOneResponseIsNotLong() throws {
    let first = "0B" + String(repeating: " AA", count: 22)
    let value = try withScript([
      .on("0A 03 00", first), .on("0C 03 00 16 00", "01 0C 03 00 0B"),
    ]) { client, _, _ in
      await outcome { () async throws(GATTFault) in
        try await client.read(handle: AttributeHandle(3))
      }
    }
    #expect(value == .success([UInt8](repeating: 0xAA, count: 22)))
  }

  /// The first part was full at the MTU of its request. This is true even if the peer's Exchange
  /// MTU Request raises the MTU before the reader checks the length.
  @Test func aValueIsReadToItsEndWhenTheMTUGrowsMeanwhile() throws {
    let first = "0B" + String(repeating: " AA", count: 22)
    let value = try withScript([
      .on("0A 03 00", first, "02 05 02"), .on("03 05 02"), .on("0C 03 00 16 00", "0D BB BB"),
    ]) { client, _, _ in
      await outcome { () async throws(GATTFault) in
        try await client.read(handle: AttributeHandle(3))
      }
    }
    #expect(value == .success([UInt8](repeating: 0xAA, count: 22) + [0xBB, 0xBB]))
  }

  @Test func characteristicsThatBelongTogetherAreOfOneService() throws {
    let battery = BluetoothUUID(0x180F)
    let wanted = [BluetoothUUID(0x2A19), BluetoothUUID(0x2A1A)]
    let found = try withScript([
      // There are two services 180F: the first has only 2A19, the second has both characteristics.
      .on("10 01 00 FF FF 00 28", "11 06 01 00 03 00 0F 18 04 00 09 00 0F 18"),
      .on("10 0A 00 FF FF 00 28", "01 10 0A 00 0A"),
      .on("08 01 00 03 00 03 28", "09 07 02 00 02 03 00 19 2A"),
      .on("08 04 00 09 00 03 28", "09 07 05 00 02 06 00 1A 2A 07 00 02 08 00 19 2A"),
    ]) { client, _, _ in
      let both = await outcome { () async throws(GATTFault) in
        try await client.characteristics(wanted, in: battery)
      }
      let other = await outcome { () async throws(GATTFault) in
        try await client.characteristics(wanted + [BluetoothUUID(0x2A1B)], in: battery)
      }
      return (both, other)
    }
    #expect(try found.0.get().map(\.value) == [8, 6].map { AttributeHandle($0) })
    #expect(throws: GATTFault.notFound(wanted[1])) { try found.1.get() }
  }

  /// After the last value there is room for a descriptor, for a characteristic, or for neither.
  @Test func discoveryContinuesWhileAnotherCharacteristicWouldFit() throws {
    let declaration = "09 07 02 00 10 03 00 19 2A"
    for (last, asked) in [(UInt8(3), false), (4, false), (5, true)] {
      let end = "0\(last) 00"
      let script: [ScriptedPeer.Step] =
        [.on("08 01 00 \(end) 03 28", declaration)]
        + (asked ? [.on("08 03 00 \(end) 03 28", "01 08 03 00 0A")] : [])
      let found = try withScript(script) { client, _, _ in
        await outcome { () async throws(GATTFault) in
          try await client.characteristics(
            of: DiscoveredService(
              uuid: BluetoothUUID(0x180F),
              handles: HandleRange(.first, AttributeHandle(UInt16(last)))))
        }
      }
      #expect(try found.get().map(\.last.rawValue) == [UInt16(last)], "\(last)")
    }
  }

  @Test func aServiceWithoutRoomForACharacteristicNeedsNoRequest() throws {
    let found = try withScript([]) { client, _, _ in
      await outcome { () async throws(GATTFault) in
        try await client.characteristics(
          of: DiscoveredService(
            uuid: .genericAttribute, handles: HandleRange(AttributeHandle(6), AttributeHandle(7))))
      }
    }
    #expect(try found.get().isEmpty)
  }

  @Test func aRefusedWriteNamesHandleAndCode() throws {
    let result = try withScript([.on("12 07 00 01", "01 12 07 00 03")]) { client, _, _ in
      await outcome { () async throws(GATTFault) in
        try await client.write([1], handle: AttributeHandle(7))
      }
    }
    #expect(throws: GATTFault.refused(AttributeReference(AttributeHandle(7)), .writeNotPermitted)) {
      try result.get()
    }
  }

  @Test func aLongWriteComparesEveryEchoAndCancelsOnADifference() throws {
    // 22 bytes do not fit ATT_MTU − 3 = 20 bytes, so they are sent in two parts of 18 and 4 bytes.
    let value = [UInt8](repeating: 0x11, count: 22)
    let part = String(repeating: " 11", count: 18)
    let result = try withScript([
      .on("16 07 00 00 00" + part, "17 07 00 00 00" + part),
      .on("16 07 00 12 00 11 11 11 11", "17 07 00 12 00 11 11 11 22"),
      .on("18 00", "19"),
    ]) { client, _, _ in
      await outcome { () async throws(GATTFault) in
        try await client.write(value, handle: AttributeHandle(7))
      }
    }
    #expect(throws: GATTFault.self) { try result.get() }
  }

  @Test func discoversServicesUntilAttributeNotFound() throws {
    let services = try withScript([
      .on("10 01 00 FF FF 00 28", "11 06 01 00 05 00 00 18 06 00 09 00 0F 18"),
      .on("10 0A 00 FF FF 00 28", "01 10 0A 00 0A"),
    ]) { client, _, _ in
      await outcome { () async throws(GATTFault) in try await client.services() }
    }
    #expect(try services.get().map(\.uuid) == [0x1800, 0x180F].map { BluetoothUUID($0) })
  }

  @Test func discoveryThatDoesNotAdvanceIsAViolationNotALoop() throws {
    let services = try withScript([
      .on("10 01 00 FF FF 00 28", "11 06 01 00 05 00 00 18"),
      .on("10 06 00 FF FF 00 28", "11 06 01 00 05 00 00 18"),
    ]) { client, _, _ in
      await outcome { () async throws(GATTFault) in try await client.services() }
    }
    guard case .failure(.violation) = services else {
      Issue.record("\(services)")
      return
    }
  }

  @Test func discoveredServicesAreKept() throws {
    let both = try withScript([
      .on("10 01 00 FF FF 00 28", "11 06 01 00 FF FF 00 18")
    ]) { client, _, _ in
      let first = await outcome { () async throws(GATTFault) in try await client.services() }
      let second = await outcome { () async throws(GATTFault) in try await client.services() }
      return [first, second]
    }
    #expect(both[0] == both[1])
  }

  @Test func aSecondExchangeSendsNothingAndReturnsTheCurrentMTU() throws {
    let both = try withScript([.on("02 00 02", "03 F7 00"), .on("0A 01 00", "0B 05")]) {
      client, _, _ in
      let first = await outcome { () async throws(GATTFault) in try await client.requestMTU() }
      let second = await outcome { () async throws(GATTFault) in try await client.requestMTU(100) }
      _ = await outcome { () async throws(GATTFault) in
        try await client.read(handle: AttributeHandle(1))
      }
      return [first, second]
    }
    #expect(both == [.success(247), .success(247)])
  }

  /// Host and device must use the same MTU, even if the caller no longer waits for the exchange.
  @Test func anAbandonedExchangeTakesEffect() throws {
    let seen = try withScript([
      .on("02 00 02", "03 F7 00").after(.seconds(2)), .on("0A 01 00", "0B 05"),
    ]) {
      client, _, clock in
      let given = await outcome { () async throws(GATTFault) in
        try await withDeadline(
          clock.now.advanced(by: .seconds(1)), on: clock, orThrow: .timedOut(after: .seconds(1))
        ) {
          () async throws(GATTFault) -> Int in try await client.requestMTU()
        }
      }
      _ = await outcome { () async throws(GATTFault) in
        try await client.read(handle: AttributeHandle(1))
      }
      let later = await outcome { () async throws(GATTFault) in try await client.requestMTU() }
      return (given, client.mtu, later)
    }
    #expect(seen.0 == .failure(.timedOut(after: .seconds(1))))
    #expect(seen.1 == 247)
    #expect(seen.2 == .success(247))
  }

  @Test func theLongestWriteDependsOnItsKind() throws {
    let lengths = try withScript([.on("02 00 02", "03 F7 00")]) { client, _, _ in
      _ = await outcome { () async throws(GATTFault) in try await client.requestMTU() }
      return GATTClient.WriteKind.allCases.map { client.maximumWriteValueLength(for: $0) }
        + [client.singleWriteLength]
    }
    #expect(lengths == [512, 244, 244])
  }

  @Test func aDiscoveredCharacteristicIsKeptUntilItIsForgotten() throws {
    let discovery: [ScriptedPeer.Step] = [
      .on("10 01 00 FF FF 00 28", "11 06 01 00 04 00 0F 18"),
      .on("10 05 00 FF FF 00 28", "01 10 05 00 0A"),
      .on("08 01 00 04 00 03 28", "09 07 02 00 02 03 00 19 2A"),
    ]
    let found = try withScript(discovery + [.on("0A 03 00", "0B 05")] + discovery) {
      client, _, _ in
      let find = { () async -> Result<DiscoveredCharacteristic, GATTFault> in
        await outcome { () async throws(GATTFault) in
          try await client.characteristic(BluetoothUUID(0x2A19), in: BluetoothUUID(0x180F))
        }
      }
      let first = await find()
      let again = await find()
      _ = await outcome { () async throws(GATTFault) in
        try await client.read(handle: AttributeHandle(3))
      }
      client.forgetAttributes()
      return [first, again, await find()]
    }
    #expect(try found.map { try $0.get().value.rawValue } == [3, 3, 3])
  }
}
