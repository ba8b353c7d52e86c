import Testing

@testable import OtaflashUpdate

/// The division of an image into packets, and the window.
@Suite struct EspressifTransferTests {
  /// No packet exceeds the data size. The last packet of a sector has at least one byte of the
  /// image, and space for the CRC.
  @Test(arguments: [17, 18, 20, 97, 241, 252, 492, 509])
  func packetsFit(_ dataSize: Int) {
    for size in [1, 2, dataSize - 2, dataSize - 1, dataSize, dataSize + 1, 4095, 4096, 4097, 9000] {
      let image = [UInt8](repeating: 0x5A, count: size)
      let sectors = EspressifSectors(image, dataSize: dataSize)
      var sent = 0
      for sector in 0..<sectors.count {
        let packets = sectors.packets(of: sector)
        #expect(packets.count <= 255)
        for (number, packet) in packets.enumerated() {
          #expect(packet.lowerBound == sent && !packet.isEmpty)
          let isLast = number == packets.count - 1
          #expect(packet.count <= dataSize - (isLast ? 2 : 0))
          let value = sectors.value(number, of: packets, sector: sector)
          #expect(value[2] == (isLast ? 0xFF : UInt8(number)))
          #expect(value.count == packet.count + (isLast ? 5 : 3))
          sent = packet.upperBound
        }
        #expect(sent == sectors.bytes(in: sector + 1))
      }
      #expect(sent == size)
    }
  }

  /// The CRC differs from the CRC of every part of the sector that the device may hold, including
  /// the empty part.
  @Test func theClearingPacketMatchesNoPart() {
    for byte in [UInt8(0), 0x5A] {
      let sectors = EspressifSectors([UInt8](repeating: byte, count: 5000), dataSize: 17)
      let packet = sectors.clearing(1)
      #expect(packet.prefix(3) == [1, 0, 0xFF] && packet.count == 5)
      let crc = UInt16(packet[3]) | UInt16(packet[4]) << 8
      var part: [UInt8] = []
      #expect(crc != 0)
      for range in sectors.packets(of: 1) {
        part += sectors.image[range]
        #expect(crc != EspressifChecksum.checksum(part))
      }
    }
  }

  private static func transfer(
    window: Int = 3, statesWanted: Bool = true, sent: Int
  ) -> EspressifTransfer {
    var transfer = EspressifTransfer(
      count: 8, from: 0, window: window, statesWanted: statesWanted)
    for _ in 0..<sent { transfer.sentPacket(isLast: true) }
    return transfer
  }

  private static func answer(_ words: UInt16...) throws -> EspressifSectorAnswer {
    try EspressifSectorAnswer(
      decoding: EspressifBytes.answer(words[0], words[1], words.count > 2 ? words[2] : 0))
  }

  @Test func theWindowLimitsTheSectors() throws {
    var transfer = Self.transfer(sent: 3)
    #expect(!transfer.maySend)
    #expect(try transfer.received(Self.answer(0, 0, 1)) == .proceed)
    #expect(transfer.maySend && transfer.acknowledged == 1)
    #expect(try transfer.received(Self.answer(0, 0, 1)) == .proceed)
    #expect(transfer.acknowledged == 1)
  }

  /// Devices accept sectors in order, so an answer also covers the sectors before it.
  @Test func anAnswerCoversEarlierSectors() throws {
    var transfer = Self.transfer(sent: 3)
    #expect(try transfer.received(Self.answer(2, 0, 3)) == .proceed)
    #expect(transfer.acknowledged == 3)
  }

  @Test func aSectorThatWasNotSentIsNotAccepted() throws {
    var transfer = Self.transfer(sent: 2)
    #expect(throws: UpdateFault.self) { try transfer.received(Self.answer(2, 0, 3)) }
  }

  /// The third word is used only with status 2, because with other statuses some devices set it to
  /// 0.
  @Test func theExpectedSectorIsUsedOnlyWithStatusTwo() throws {
    var transfer = Self.transfer(sent: 3)
    #expect(try transfer.received(Self.answer(0, 0, 0)) == .proceed)
    #expect(transfer.acknowledged == 1)
    #expect(try transfer.received(Self.answer(1, 1, 3)) == .lost)
    #expect(transfer.acknowledged == 1)
    #expect(try transfer.received(Self.answer(2, 2, 2)) == .lost)
    #expect(transfer.acknowledged == 2)
  }

  @Test func lateRefusalsOfAcceptedSectorsAreIgnored() throws {
    var transfer = Self.transfer(sent: 3)
    #expect(try transfer.received(Self.answer(1, 0, 2)) == .proceed)
    #expect(try transfer.received(Self.answer(0, 2, 2)) == .proceed)
    #expect(try transfer.received(Self.answer(1, 3, 1)) == .proceed)
  }

  /// BLEOTA states no expected sector. After a repetition, the status 2 means that the device has
  /// the sector.
  @Test func aRepeatedSectorThatTheDeviceHasIsAccepted() throws {
    var transfer = Self.transfer(window: 1, statesWanted: false, sent: 1)
    #expect(try transfer.received(Self.answer(0, 2)) == .lost)
    try transfer.goBack()
    transfer.sentPacket(isLast: true)
    #expect(try transfer.received(Self.answer(0, 2)) == .proceed)
    #expect(transfer.acknowledged == 1)
  }

  @Test func repetitionsAreLimited() throws {
    var transfer = Self.transfer(sent: 1)
    for _ in 0..<EspressifTransfer.repeatsMaximum { try transfer.goBack() }
    #expect(throws: UpdateFault.self) { try transfer.goBack() }
  }

  @Test func onlySentSectorsCanBeExpected() {
    var transfer = Self.transfer(sent: 2)
    let expectations = [2, 1, 3].map { transfer.expects($0) }
    #expect(expectations == [true, false, false])
  }
}
