import OtaflashFirmware
import OtaflashSimulation
import Testing

@testable import OtaflashUpdate

/// Tests of the messages, with check values that were computed independently.
@Suite struct SUOTAMessagesTests {
  @Test func commandsMatchTheirCheckValues() {
    #expect(hex(SUOTACommand.start(.spi, bank: 0).encoded) == "00000013")
    #expect(hex(SUOTACommand.start(.i2c, bank: 2).encoded) == "02000012")
    #expect(hex(SUOTACommand.end.encoded) == "000000fe")
    #expect(hex(SUOTACommand.reboot.encoded) == "000000fd")
    #expect(hex(SUOTACommand.exit.encoded) == "000000ff")
    #expect(hex(SUOTACommand.bytes(0x0506_0300)) == "00030605")
  }

  /// The XOR of 00…FF is 00, and the XOR of `123456789` is 31.
  @Test(arguments: [([UInt8](0...255), 0), (Array("123456789".utf8), 0x31)] as [([UInt8], UInt8)])
  func theDataEndsWithTheXOROfTheImage(_ bytes: [UInt8], _ sum: UInt8) {
    let image = FirmwareImage(
      name: "a", format: .binary, bytes: bytes, version: nil, hardware: nil)
    #expect(image.suotaData == bytes + [sum])
    #expect(image.suotaData.reduce(0, ^) == 0)
  }

  @Test func aStatusHasOneByte() throws {
    #expect(try SUOTAStatus(decoding: [0x10]) == .imageStarted)
    #expect(throws: SUOTADecodeFault.length(0)) { try SUOTAStatus(decoding: []) }
    #expect(throws: SUOTADecodeFault.length(2)) { try SUOTAStatus(decoding: [2, 0]) }
  }

  /// Every error, also an undefined error, has a message, a correction and a remedy.
  @Test(arguments: [UInt8](3...9) + [UInt8](0x11...0x1B) + [0, 0x42, 0xFF])
  func everyErrorIsAMessageWithARemedy(_ code: UInt8) {
    let words = SUOTAStatus(rawValue: code).inWords
    #expect(words.code == "SUOTA \(code)")
    #expect(!words.meaning.isEmpty && !words.meaning.hasSuffix("."))
    #expect(words.advice.hasSuffix("."))
    #expect(words.remedy != nil)
  }

  @Test func theDefinedErrorsHaveDifferentMessages() {
    let codes = [UInt8](3...9) + [UInt8](0x11...0x16)
    #expect(Set(codes.map { SUOTAStatus(rawValue: $0).inWords.meaning }).count == codes.count)
  }

  // MARK: The pins

  @Test func thePinsAreTheCallersOrThoseOfTheProduct() {
    var options = SUOTAOptions()
    #expect(SUOTAQuirk.pins(for: [], options) == 0x0506_0300)
    #expect(
      SUOTAQuirk.pins(for: ["a44eacf4-0104-0001-0000-5f784c9977b5"], options) == 0x0506_0700)
    options.memory = .i2c
    #expect(SUOTAQuirk.pins(for: [], options) == 0x0050_0203)
    options.pins = 0x0300_0104
    #expect(
      SUOTAQuirk.pins(for: ["a44eacf4-0104-0001-0000-5f784c9977b5"], options) == 0x0300_0104)
  }
}

/// Tests of the arithmetic of a transfer.
@Suite struct SUOTAWindowTests {
  /// Sends everything to a device that reports every block. Returns the lengths, the packets, and
  /// the maximum number of unacknowledged bytes.
  private static func run(
    _ window: SUOTAWindow
  ) -> (lengths: [Int], packets: [Range<Int>], most: Int) {
    var window = window
    var lengths: [Int] = []
    var packets: [Range<Int>] = []
    var most = 0
    for _ in 0..<100_000 where !window.isComplete {
      if let length = window.lengthDue {
        lengths.append(length)
        window.announced(length)
      } else if let range = window.sendable {
        packets.append(range)
        window.didSend(range)
        most = max(most, window.sent - window.acknowledged)
      } else {
        window.reported()
      }
    }
    return (lengths, packets, most)
  }

  @Test(arguments: [1, 63, 64, 511, 512, 513, 1024, 5000, 65_537])
  func blocksCoverTheDataAndEndWithTheRest(_ total: Int) {
    for (packet, buffer) in [(20, 512), (244, 512), (244, 240), (244, 128), (244, 64), (500, 512)] {
      let (lengths, packets, most) = Self.run(
        SUOTAWindow(total: total, packet: packet, buffer: buffer))
      #expect(packets.first?.lowerBound == 0 && packets.last?.upperBound == total)
      #expect(zip(packets, packets.dropFirst()).allSatisfy { $0.upperBound == $1.lowerBound })
      #expect(packets.allSatisfy { $0.count <= packet })
      // A packet never crosses the end of a block.
      #expect(packets.allSatisfy { $0.lowerBound / buffer == ($0.upperBound - 1) / buffer })
      #expect(most <= buffer)
      let rest = total % buffer
      #expect(lengths == (total < buffer ? [total] : rest == 0 ? [buffer] : [buffer, rest]))
    }
  }

  @Test(arguments: [1, 976, 977, 2928, 100_001])
  func aStreamHasThreeBlocksInFlight(_ total: Int) {
    let (lengths, packets, most) = Self.run(SUOTAWindow(streaming: total, packet: 244))
    #expect(packets.last?.upperBound == total)
    #expect(lengths.first == min(total, 976))
    #expect(most <= SUOTAWindow.streamMaximum && (total < 2928 || most == 2928))
  }

  @Test func lossesAndTheCallersLimitReduceTheWindow() {
    #expect(SUOTAWindow(streaming: 9000, packet: 244, losses: 1).ahead == 732)
    #expect(SUOTAWindow(streaming: 9000, packet: 244, losses: 3).ahead == 244)
    #expect(SUOTAWindow(streaming: 9000, packet: 20, losses: 3).ahead == 40)
    #expect(SUOTAWindow(streaming: 9000, packet: 244, limit: 1).ahead == 244)
    #expect(SUOTAWindow(total: 9000, packet: 244, buffer: 512, limit: 100).block == 100)
    #expect(SUOTAWindow(total: 9000, packet: 244, buffer: 512, limit: 1).block == 64)
  }

  @Test func aRepeatedStatusIsIgnored() {
    var window = SUOTAWindow(total: 1000, packet: 244, buffer: 512)
    window.announced(512)
    window.reported()
    #expect(window.acknowledged == 0)
    while let range = window.sendable { window.didSend(range) }
    window.reported()
    window.reported()
    #expect(window.acknowledged == 512)
  }

  /// A device does not count the XOR byte, and missing bytes are detected.
  @Test func theNumberOfReceivedBytesReplacesLostStatuses() {
    var window = SUOTAWindow(total: 513, packet: 244, buffer: 512)
    window.announced(512)
    while let range = window.sendable { window.didSend(range) }
    let isShort = window.received(268, imageSize: 512)
    #expect(!isShort && window.acknowledged == 0)
    let isEnough = window.received(512, imageSize: 512)
    #expect(isEnough && window.acknowledged == 512)
    window.announced(1)
    while let range = window.sendable { window.didSend(range) }
    let isComplete = window.received(512, imageSize: 512)
    #expect(isComplete && window.isComplete)
  }
}
