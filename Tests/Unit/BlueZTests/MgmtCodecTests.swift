import OtaflashATT
import Testing

@testable import OtaflashBlueZ

@Suite struct MgmtCodecTests {
  static let service: BluetoothUUID = "2f3e0001-21b4-4807-8bdc-74db56699529"

  @Test func commandsHaveTheKernelsBytes() throws {
    #expect(
      MgmtCommand.readIndexList.encoded(index: MgmtCommand.noIndex)
        == [0x03, 0x00, 0xFF, 0xFF, 0x00, 0x00])
    #expect(
      MgmtCommand.readControllerInformation.encoded(index: 1) == [
        0x04, 0x00, 0x01, 0x00, 0x00, 0x00,
      ])
    #expect(
      MgmtCommand.setPowered(true).encoded(index: 0) == [0x05, 0x00, 0x00, 0x00, 0x01, 0x00, 0x01])
    #expect(MgmtCommand.startDiscovery.encoded(index: 0) == startDiscoveryPacket)
    #expect(MgmtCommand.stopDiscovery.encoded(index: 0) == stopDiscoveryPacket)
    #expect(
      MgmtCommand.startServiceDiscovery(rssiMinimum: -80, services: [Self.service]).encoded(
        index: 0)
        == [0x3A, 0x00, 0x00, 0x00, 0x14, 0x00, 0x06, 0xB0, 0x01, 0x00] + [
          0x29, 0x95, 0x69, 0x56, 0xDB, 0x74, 0xDC, 0x8B, 0x07, 0x48, 0xB4, 0x21, 0x01, 0x00, 0x3E,
          0x2F,
        ])
    #expect(
      MgmtCommand.startServiceDiscovery(rssiMinimum: nil, services: []).encoded(index: 0)
        == [0x3A, 0x00, 0x00, 0x00, 0x04, 0x00, 0x06, 0x7F, 0x00, 0x00])
  }

  @Test func anAdvertisementHasTheKernelsBytesAndLimits() throws {
    let advertisement = try #require(PeripheralAdvertising(name: "ab", service: Self.service))
    let head: [UInt8] = [
      0x3E, 0x00, 0x01, 0x00, 0x21, 0x00, 0x01, 0x03, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
      0x12, 0x04,
    ]
    #expect(
      MgmtCommand.addAdvertising(advertisement).encoded(index: 1)
        == head + [0x11, 0x07] + Self.service.littleEndian128 + [0x03, 0x09, 0x61, 0x62])
    #expect(
      MgmtCommand.removeAdvertising.encoded(index: 1) == [
        0x3F, 0x00, 0x01, 0x00, 0x01, 0x00, 0x01,
      ])
    let longest = String(repeating: "n", count: PeripheralAdvertising.nameMaximum)
    #expect(PeripheralAdvertising(name: longest, service: Self.service) != nil)
    #expect(PeripheralAdvertising(name: longest + "n", service: Self.service) == nil)
    #expect(PeripheralAdvertising(name: "", service: Self.service) == nil)
  }

  @Test func connectionParametersHaveTheKernelsBytesAndLimits() throws {
    let device = try #require(BluetoothAddress("C0:FF:EE:00:00:01"))
    let parameters = try #require(
      MgmtConnectionParameters(
        device: device, intervalMinimum: 6, intervalMaximum: 12, latency: 0, supervisionTimeout: 200
      ))
    #expect(
      MgmtCommand.loadConnectionParameters([parameters]).encoded(index: 0) == [
        0x35, 0x00, 0x00, 0x00, 0x11, 0x00, 0x01, 0x00, 0x01, 0x00, 0x00, 0xEE, 0xFF, 0xC0, 0x02,
        0x06, 0x00, 0x0C, 0x00, 0x00, 0x00, 0xC8, 0x00,
      ])
    // The parameters are invalid: an interval that is too short or too long, a minimum above the
    // maximum, a latency that is too long, and a timeout that is out of range or too short for the
    // interval and the latency.
    for (low, high, latency, timeout) in [
      (5, 12, 0, 200), (13, 12, 0, 200), (6, 3200, 0, 400), (6, 3201, 0, 3200), (6, 80, 0, 10),
      (6, 12, 500, 3200), (80, 80, 1, 21), (6, 6, 0, 9), (6, 6, 0, 3201),
    ] as [(UInt16, UInt16, UInt16, UInt16)] {
      #expect(
        MgmtConnectionParameters(
          device: device, intervalMinimum: low, intervalMaximum: high, latency: latency,
          supervisionTimeout: timeout) == nil, "\(low) \(high) \(latency) \(timeout)")
    }
  }

  @Test func eventsAreRead() throws {
    #expect(
      try MgmtPacket(decoding: [0x01, 0x00, 0xFF, 0xFF, 0x05, 0x00, 0x03, 0x00, 0x00, 0x00, 0x00])
        == MgmtPacket(
          index: 0xFFFF,
          event: .commandComplete(opcode: 3, status: .success, parameters: [0, 0])))
    #expect(
      try MgmtPacket(decoding: [0x02, 0x00, 0x00, 0x00, 0x03, 0x00, 0x23, 0x00, 0x14])
        == MgmtPacket(index: 0, event: .commandStatus(opcode: 0x23, status: .permissionDenied)))
    #expect(
      try MgmtPacket(decoding: [0x04, 0, 1, 0, 0, 0]) == MgmtPacket(index: 1, event: .indexAdded))
    #expect(
      try MgmtPacket(decoding: [0x05, 0, 1, 0, 0, 0]) == MgmtPacket(index: 1, event: .indexRemoved))
    #expect(
      try MgmtPacket(decoding: [0x06, 0, 0, 0, 4, 0, 0x01, 0x02, 0, 0])
        == MgmtPacket(index: 0, event: .newSettings([.powered, .lowEnergy])))
    #expect(
      try MgmtPacket(decoding: [0x13, 0, 0, 0, 2, 0, 6, 1])
        == MgmtPacket(index: 0, event: .discovering(true)))
    #expect(
      try MgmtPacket(decoding: [0x77, 0, 0, 0, 1, 0, 6])
        == MgmtPacket(index: 0, event: .other(code: 0x77)))
  }

  @Test func deviceFoundIsRead() throws {
    let packet: [UInt8] =
      [0x12, 0, 0, 0, 0x14, 0, 0x01, 0, 0, 0xEE, 0xFF, 0xC0, 2, 0xC4, 0, 0, 0, 0, 6, 0]
      + [0x02, 0x01, 0x06, 0x02, 0x09, 0x41]
    guard case .deviceFound(let report) = try MgmtPacket(decoding: packet).event else {
      Issue.record("not a Device Found")
      return
    }
    #expect("\(report.address)" == "C0:FF:EE:00:00:01")
    #expect(report.rssi == -60)
    #expect(report.advertising.name == "A")
    #expect(report.advertising.flags == 6)
    for length in 0..<packet.count {
      #expect(throws: MgmtDecodeFault.self) { try MgmtPacket(decoding: Array(packet[..<length])) }
    }
    var lying = packet
    lying[18] = 7
    #expect(throws: MgmtDecodeFault.self) { try MgmtPacket(decoding: lying) }
  }

  @Test func controllerInformationIsRead() throws {
    let information = try ControllerInformation(
      decoding: [1, 2, 3, 4, 5, 6, 9, 0x02, 0x00, 0xFF, 0x02, 0, 0, 0x01, 0x02, 0, 0])
    #expect("\(information.address)" == "06:05:04:03:02:01")
    #expect(information.version == 9)
    #expect(information.current == [.powered, .lowEnergy])
    #expect(throws: MgmtDecodeFault.self) { try ControllerInformation(decoding: [1, 2, 3]) }
  }

  @Test func statusesHaveTexts() {
    #expect("\(MgmtStatus.permissionDenied)" == "permission denied")
    #expect("\(MgmtStatus.blockedByRFKill)" == "blocked by rfkill")
    #expect("\(MgmtStatus(rawValue: 0x0B))" == "rejected")
    #expect("\(MgmtStatus(rawValue: 0xEE))" == "status 238")
  }
}

@Suite struct AdvertisingDataTests {
  @Test func structuresAreRead() {
    let data = AdvertisingData(
      decoding: [0x02, 0x01, 0x06, 0x05, 0x03, 0x0D, 0x18, 0x0F, 0x18]
        + [0x11, 0x07] + MgmtCodecTests.service.littleEndian128
        + [0x03, 0x08, 0x61, 0x62, 0x04, 0x09, 0x61, 0x62, 0x63, 0x04, 0xFF, 0x59, 0x00, 0x07])
    #expect(data.flags == 6)
    #expect(data.services == ["180D", "180F", MgmtCodecTests.service])
    #expect(data.name == "abc")
    #expect(data.manufacturerData.first?.company == 0x0059)
    #expect(data.manufacturerData.first?.data == [7])
  }

  @Test func aShortenedNameDoesNotReplaceTheCompleteName() {
    #expect(AdvertisingData(decoding: [2, 9, 0x41, 2, 8, 0x42]).name == "A")
    #expect(AdvertisingData(decoding: [2, 8, 0x42]).name == "B")
  }

  @Test func malformedStructuresAreSkipped() {
    // The data is malformed: a UUID list with an odd byte, manufacturer data without a company,
    // flags without a value, a name that is not UTF-8, a truncated structure.
    let data = AdvertisingData(
      decoding: [4, 3, 0x0D, 0x18, 0x0F, 2, 0xFF, 1, 1, 1, 3, 9, 0xFF, 0x41, 9, 9, 0x41])
    #expect(data.services == ["180D"])
    #expect(data.manufacturerData.isEmpty)
    #expect(data.flags == nil)
    #expect(data.name == "\u{FFFD}A")
    #expect(AdvertisingData(decoding: [0, 2, 1, 6]) == AdvertisingData())
  }

  @Test func anyBytesAreTolerated() {
    var generator = Bytes(state: 7)
    for _ in 0..<5000 {
      let bytes = (0..<(generator.next() % 64)).map { _ in UInt8(generator.next() & 0xFF) }
      _ = AdvertisingData(decoding: bytes)
    }
  }
}

/// A seeded generator (xorshift), so that failures are repeatable.
private struct Bytes {
  var state: UInt32
  mutating func next() -> UInt32 {
    state ^= state << 13
    state ^= state >> 17
    state ^= state << 5
    return state
  }
}

@Suite struct BluetoothAddressTests {
  @Test(arguments: [
    ("C0:FF:EE:00:00:01", "C0:FF:EE:00:00:01", BluetoothAddress.Kind.random),
    ("c0:ff:ee:00:00:01/public", "C0:FF:EE:00:00:01/public", .publicDevice),
    ("00:11:22:33:44:55", "00:11:22:33:44:55", .publicDevice),
    ("00:11:22:33:44:55/random", "00:11:22:33:44:55/random", .random),
    ("00:11:22:33:44:55/public", "00:11:22:33:44:55", .publicDevice),
  ]) func addressesAreReadAndWritten(
    text: String, canonical: String, kind: BluetoothAddress.Kind
  ) throws {
    let address = try #require(BluetoothAddress(text))
    #expect(address.kind == kind)
    #expect(address.description == canonical)
    #expect(BluetoothAddress(address.description) == address)
  }

  @Test(arguments: [
    "", "C0:FF:EE:00:00", "C0:FF:EE:00:00:01:02", "C0:FF:EE:00:00:1", "C0:FF:EE:00:00:GG",
    "C0:FF:EE:00:00:+1", "C0FFEE000001", "C0:FF:EE:00:00:01/", "C0:FF:EE:00:00:01/le",
    "C0:FF:EE:00:00:01/public/random", "/random",
  ]) func malformedAddressesAreRefused(text: String) {
    #expect(BluetoothAddress(text) == nil)
  }
}
