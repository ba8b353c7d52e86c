import OtaflashATT
import OtaflashGATT
import OtaflashTestSupport
import Testing

/// Scripts of raw PDUs: the requests of a client and the expected responses.
@Suite struct DiscoveryTests {
  @Test func primaryServicesGroupedByUUIDLength() {
    var peer = Peer(exampleTable())
    peer.run([
      ("10 01 00 FF FF 00 28", "11 06 01 00 05 00 00 18"),
      ("10 06 00 FF FF 00 28", "11 14 06 00 0C 00 " + otaBytes),
      ("10 0D 00 FF FF 00 28", "01 10 0D 00 0A"),
      ("10 01 00 FF FF 01 28", "11 06 0D 00 13 00 0F 18"),
      ("10 01 00 FF FF 03 28", "01 10 01 00 10"),
      ("10 00 00 FF FF 00 28", "01 10 00 00 01"),
      ("10 05 00 04 00 00 28", "01 10 05 00 01"),
    ])
  }

  @Test func servicesByUUID() {
    var peer = Peer(exampleTable())
    peer.run([
      ("06 01 00 FF FF 00 28 00 18", "07 01 00 05 00"),
      ("06 01 00 FF FF 00 28 " + otaBytes, "07 06 00 0C 00"),
      ("06 02 00 FF FF 00 28 00 18", "01 06 02 00 0A"),
      ("06 02 00 01 00 00 28 00 18", "01 06 02 00 01"),
    ])
  }

  @Test func includesAndCharacteristics() {
    var peer = Peer(exampleTable())
    peer.run([
      ("08 0D 00 13 00 02 28", "09 08 0E 00 01 00 05 00 00 18"),
      ("08 0F 00 13 00 02 28", "09 06 0F 00 06 00 0C 00"),
      ("08 01 00 05 00 03 28", "09 07 02 00 0A 03 00 00 2A 04 00 02 05 00 01 2A"),
      ("08 06 00 0C 00 03 28", "09 07 07 00 12 08 00 01 FF 0A 00 2C 0B 00 02 FF"),
      ("08 0D 00 13 00 03 28", "09 07 10 00 8A 11 00 19 2A"),
      ("08 05 00 05 00 03 28", "01 08 05 00 0A"),
    ])
  }

  @Test func descriptors() {
    var peer = Peer(exampleTable())
    peer.run([
      ("04 09 00 09 00", "05 01 09 00 02 29"),
      ("04 12 00 13 00", "05 01 12 00 00 29 13 00 01 29"),
      ("04 14 00 FF FF", "01 04 14 00 0A"),
      ("04 00 00 FF FF", "01 04 00 00 01"),
      ("04 05 00 04 00", "01 04 05 00 01"),
      ("04 01 00 FF FF", "05 01 01 00 00 28 02 00 03 28 03 00 00 2A 04 00 03 28 05 00 01 2A"),
      ("0A 12 00", "0B 01 00"),
      ("0A 13 00", "0B 4C 65 76 65 6C"),
    ])
  }
}

@Suite struct ReadTests {
  @Test func readsAndTheirErrors() {
    var peer = Peer(exampleTable())
    peer.run([
      ("0A 05 00", "0B 40 02"),
      ("0A 08 00", "0B 17"),
      ("0A 00 00", "01 0A 00 00 01"),
      ("0A 20 00", "01 0A 20 00 01"),
      ("0A 0B 00", "01 0A 0B 00 02"),
      ("0A 11 00", "01 0A 11 00 0F"),
      ("08 01 00 FF FF 02 FF", "01 08 0B 00 02"),
      ("08 01 00 FF FF 19 2A", "01 08 11 00 0F"),
      ("0C 05 00 01 00", "0D 02"),
      ("0C 05 00 02 00", "0D"),
      ("0C 05 00 03 00", "01 0C 05 00 07"),
      ("0E 05 00 08 00", "0F 40 02 17"),
      ("0E 05 00 0B 00", "01 0E 0B 00 02"),
      ("20 05 00 08 00", "21 02 00 40 02 01 00 17"),
      ("20 05 00 99 00", "01 20 99 00 01"),
    ])
  }

  /// 60 bytes at an MTU of 23 are sent as 22, 22 and 16; every list truncates to its own limit.
  @Test func longValues() {
    var peer = Peer(longTable())
    let first = peer.send("0A 03 00")
    #expect(first == text([0x0B] + (0..<22)))
    #expect(peer.send("0C 03 00 16 00") == text([0x0D] + (22..<44)))
    #expect(peer.send("0C 03 00 2C 00") == text([0x0D] + (44..<60)))
    #expect(peer.send("0C 03 00 3C 00") == "0D")
    #expect(peer.send("08 01 00 FF FF 01 FF") == text([0x09, 21, 3, 0] + (0..<19)))
    #expect(peer.send("0E 03 00 03 00") == text([0x0F] + (0..<22)))
    #expect(peer.send("20 03 00 03 00") == text([0x21, 60, 0] + (0..<20)))
  }

  /// The Length field of a list is at most 255, regardless of the MTU.
  @Test func listEntriesEndAt255() {
    var peer = Peer(
      AttributeTable(services: [
        LocalService(
          BluetoothUUID(0xFF00),
          characteristics: [
            LocalCharacteristic(
              BluetoothUUID(0xFF01), properties: .read,
              value: .fixed([UInt8](repeating: 7, count: 300)))
          ])
      ]))
    _ = peer.send("02 05 02")
    let response = peer.send("08 01 00 FF FF 01 FF")
    #expect(response == text([0x09, 255, 3, 0] + [UInt8](repeating: 7, count: 253)))
  }

  @Test func encryptionGivesAccessToProtectedAttributes() {
    var peer = Peer(exampleTable(), security: .encryption)
    peer.run([("0A 11 00", "0B"), ("12 11 00 32", "13"), ("0A 11 00", "0B 32")])
  }

  private func longTable() -> AttributeTable {
    AttributeTable(services: [
      LocalService(
        BluetoothUUID(0xFF00),
        characteristics: [
          LocalCharacteristic(
            BluetoothUUID(0xFF01), properties: .read, value: .fixed(Array(0..<60)))
        ])
    ])
  }
}

@Suite struct WriteTests {
  @Test func writesAndTheirErrors() {
    var peer = Peer(exampleTable())
    peer.run([
      ("12 03 00 41 42", "13"), ("0A 03 00", "0B 41 42"),
      ("12 05 00 00", "01 12 05 00 03"), ("12 00 00 00", "01 12 00 00 01"),
      ("12 11 00 00", "01 12 11 00 0F"), ("12 02 00 00", "01 12 02 00 03"),
      ("12 0B 00 EE", "01 12 0B 00 80"), ("12 0B 00 01", "13"),
    ])
  }

  /// A command is never answered, and has no effect on an attribute that only requests may write.
  @Test func commands() {
    var peer = Peer(exampleTable())
    peer.run([
      ("52 0B 00 EE", nil), ("52 0B 00 01", nil), ("52 03 00 58", nil), ("52 FF 00 58", nil),
      ("D2 03 00 58 00 00 00 00 00 00 00 00 00 00 00 00", nil), ("52 03", nil),
      ("0A 03 00", "0B 54 65 73 74 20 44 65 76 69 63 65"),
    ])
  }

  @Test func clientConfiguration() {
    var peer = Peer(exampleTable())
    peer.run([("0A 09 00", "0B 00 00"), ("12 09 00 01 00", "13")])
    #expect(
      peer.effects == [
        .respond(.write), .configured(AttributeHandle(8), .notification),
      ])
    peer.run([
      ("0A 09 00", "0B 01 00"),
      ("12 09 00 02 00", "01 12 09 00 13"), ("12 0C 00 01 00", "01 12 0C 00 13"),
      ("12 09 00 01", "01 12 09 00 0D"), ("12 09 00 01 00 00", "01 12 09 00 0D"),
      ("12 09 00 01 00", "13"),
    ])
    #expect(peer.effects == [.respond(.write)])
    peer.run([("12 0C 00 02 00", "13")])
    #expect(peer.session.configuration(of: AttributeHandle(11)) == .indication)
  }

  @Test func preparedWrites() {
    var peer = Peer(exampleTable())
    peer.run([
      ("16 03 00 00 00 61 62 63", "17 03 00 00 00 61 62 63"),
      ("16 03 00 03 00 64", "17 03 00 03 00 64"),
      ("0A 03 00", "0B 54 65 73 74 20 44 65 76 69 63 65"),
      ("18 01", "19"), ("0A 03 00", "0B 61 62 63 64 20 44 65 76 69 63 65"),
      ("16 03 00 00 00 7A", "17 03 00 00 00 7A"), ("18 00", "19"), ("18 01", "19"),
      ("0A 03 00", "0B 61 62 63 64 20 44 65 76 69 63 65"),
      ("16 05 00 00 00 7A", "01 16 05 00 03"), ("16 99 00 00 00 7A", "01 16 99 00 01"),
    ])
  }

  /// After one invalid part, no part of the queue is written, and the queue is empty.
  @Test(arguments: [("16 03 00 63 00 7A", "07"), ("16 03 00 00 00 " + long, "0D")])
  func executeIsAllOrNothing(_ bad: String, _ code: String) {
    var peer = Peer(exampleTable())
    _ = peer.send("02 05 02")
    _ = peer.send("16 03 00 00 00 7A")
    _ = peer.send(bad)
    peer.run([
      ("18 01", "01 18 03 00 \(code)"), ("18 01", "19"),
      ("0A 03 00", "0B 54 65 73 74 20 44 65 76 69 63 65"),
    ])
  }
  private static let long = text([UInt8](repeating: 1, count: 41))

  @Test func aHandlerThatRefusesKeepsStoredValues() {
    var peer = Peer(exampleTable())
    peer.run([
      ("16 03 00 00 00 7A", "17 03 00 00 00 7A"), ("16 0B 00 00 00 EE", "17 0B 00 00 00 EE"),
      ("18 01", "01 18 0B 00 80"), ("0A 03 00", "0B 54 65 73 74 20 44 65 76 69 63 65"),
    ])
  }

  @Test func theQueueIsBounded() {
    var peer = Peer(exampleTable())
    for _ in 0..<ServerSession.preparedWritesMaximum {
      #expect(peer.send("16 03 00 00 00 7A") == "17 03 00 00 00 7A")
    }
    peer.run([("16 03 00 00 00 7A", "01 16 03 00 09"), ("18 00", "19")])
    peer.run([("16 03 00 00 00 7A", "17 03 00 00 00 7A")])
  }
}

@Suite struct ProtocolTests {
  @Test func mtu() {
    var peer = Peer(exampleTable())
    peer.run([("02 B9 00", "03 05 02")])
    #expect(peer.session.mtu.bytes == 185)
  }

  /// The host's process has died, and the next process uses the link that the kernel kept open.
  @Test func theMTUCanBeExchangedAgain() {
    var peer = Peer(exampleTable())
    peer.run([("02 B9 00", "03 05 02"), ("02 B9 00", "03 05 02")])
    #expect(peer.session.mtu.bytes == 185)
    peer.run([("02 05 02", "03 05 02")])
    #expect(peer.session.mtu.bytes == 517)
    peer.run([("02 17 00", "03 05 02")])
    #expect(peer.session.mtu == .default)
  }

  @Test func anMTUBelowTheDefaultCountsAsTheDefault() {
    var peer = Peer(exampleTable())
    peer.run([("02 05 00", "03 05 02")])
    #expect(peer.session.mtu == .default)
  }

  @Test func malformedAndUnknown() {
    var peer = Peer(exampleTable())
    peer.run([
      ("0A 05", "01 0A 00 00 04"), ("18 02", "01 18 00 00 04"), ("0E 05 00", "01 0E 00 00 04"),
      ("14", "01 14 00 00 06"), ("3F 01 02", "01 3F 00 00 06"), ("7F 01", nil), ("C0", nil),
      ("", nil), ("13", nil), ("1B 01 00", nil), ("1E 00", nil), ("0B 05", nil),
    ])
    peer.run([("1E", nil)])
    #expect(peer.effects == [.confirmed])
  }

  @Test func aPDULongerThanTheMTUIsRefused() {
    var peer = Peer(exampleTable())
    let bytes = [UInt8](repeating: 1, count: 21)
    #expect(peer.send([0x12, 0x03, 0x00] + bytes) == "01 12 00 00 04")
    #expect(peer.send([0x52, 0x0B, 0x00] + bytes) == nil)
    #expect(peer.send([0x12, 0x03, 0x00] + bytes.dropLast()) == "13")
  }

  /// Every request of random bytes has exactly one response, which fits the MTU, and nothing traps.
  @Test func randomRequests() {
    var generator = SplitMix64(seed: 0x5E55)
    var peer = Peer(exampleTable(), security: .encryption)
    let opcodes = ATTOpcode.allCases.map(\.rawValue)
    let requests = Set(hex("02 04 06 08 0A 0C 0E 10 12 16 18 20"))
    for _ in 0..<20_000 {
      let size = Int.random(in: 1...23, using: &generator)
      var pdu = (0..<size).map { _ in UInt8.random(in: 0...24, using: &generator) }
      pdu[0] = opcodes[Int.random(in: 0..<opcodes.count, using: &generator)]
      if size > 2 { pdu[2] = 0 }
      let isAnswered = peer.send(pdu) != nil
      #expect(isAnswered == requests.contains(pdu[0]), "\(text(pdu))")
    }
  }
}
