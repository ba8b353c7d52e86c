import OtaflashGATT
import Testing

@testable import OtaflashUpdate

/// Byte vectors of commands, answers and checksums.
@Suite struct EspressifMessagesTests {
  static func bytes(_ text: String) -> [UInt8] {
    let digits = Array(text.filter { !$0.isWhitespace })
    return stride(from: 0, to: digits.count, by: 2).compactMap {
      UInt8(String(digits[$0...$0 + 1]), radix: 16)
    }
  }

  @Test func checksums() {
    #expect(EspressifChecksum.checksum(Array("123456789".utf8)) == 0x31C3)
    let ramp = (0..<4096).map { UInt8(truncatingIfNeeded: $0) }
    #expect(EspressifChecksum.checksum(ramp) == 0xE0B6)
    #expect(EspressifChecksum.checksum(ramp.prefix(100)) == 0x029E)
    #expect(EspressifChecksum.checksum([UInt8](repeating: 0xFF, count: 4096)) == 0xE03E)
    #expect(EspressifChecksum.checksum([UInt8](repeating: 0, count: 4096)) == 0)
  }

  @Test func commands() {
    #expect(
      EspressifCommand.start(length: 1 << 20).encoded
        == Self.bytes("0100 00001000 000000000000000000000000 c636"))
    #expect(
      EspressifCommand.stop.encoded
        == Self.bytes("0200 00000000000000000000000000000000 43f0"))
  }

  @Test func commandAnswers() throws {
    let window = try EspressifCommandAnswer(
      decoding: Self.bytes("030001000000030000000000000000000000c9ad"))
    #expect(window.id == 1 && window.status == .accepted && window.window == 3)
    let plain = try EspressifCommandAnswer(
      decoding: Self.bytes("03000100000000000000000000000000000056a8"))
    #expect(plain.status == .accepted && plain.window == 0)
    let rejected = try EspressifCommandAnswer(
      decoding: Self.bytes("03000100010000000000000000000000000037d3"))
    #expect(rejected.status == .rejected)
    let stopped = try EspressifCommandAnswer(
      decoding: Self.bytes("0300020000000000000000000000000000001b40"))
    #expect(stopped.id == 2 && stopped.status == .accepted)
    let idle = try EspressifCommandAnswer(
      decoding: Self.bytes("0300020001000000000000000000000000007a3b"))
    #expect(idle.status == .rejected)
  }

  @Test func sectorAnswers() throws {
    let first = try EspressifSectorAnswer(
      decoding: Self.bytes("000000000100000000000000000000000000617b"))
    #expect(first.sector == 0 && first.status == .accepted && first.wanted == 1)
    let other = try EspressifSectorAnswer(
      decoding: Self.bytes("0200020001000000000000000000000000004bcb"))
    #expect(other.sector == 2 && other.status == .wrongSector && other.wanted == 1)
    let damaged = try EspressifSectorAnswer(
      decoding: Self.bytes("00000100000000000000000000000000000024a8"))
    #expect(damaged.status == .rejected)
  }

  @Test func malformedAnswers() {
    #expect(throws: EspressifDecodeFault.tooShort(bytes: 0)) {
      try EspressifSectorAnswer(decoding: [])
    }
    #expect(throws: EspressifDecodeFault.tooShort(bytes: 21)) {
      try EspressifCommandAnswer(decoding: [UInt8](repeating: 0, count: 21))
    }
    var bytes = Self.bytes("030001000000030000000000000000000000c9ad")
    bytes[6] = 4
    #expect(throws: EspressifDecodeFault.self) { try EspressifCommandAnswer(decoding: bytes) }
    #expect(throws: EspressifDecodeFault.notAnAnswer(0)) {
      try EspressifCommandAnswer(decoding: [UInt8](repeating: 0, count: 20))
    }
  }

  /// Every status of every operation has a message and a correction.
  @Test func everyStatusHasAMessage() {
    for value in UInt16(1)...7 {
      let status = EspressifStatus(rawValue: value)
      for refusal in [status.ofStart(), status.ofSector(), status.ofStop()] {
        #expect(!refusal.meaning.isEmpty && refusal.advice.hasSuffix("."))
        #expect(!refusal.meaning.hasSuffix("."))
      }
    }
  }
}

/// The identification of the implementations.
@Suite struct EspressifDeviceTests {
  static let rows: [(CharacteristicProperties, Bool, EspressifDevice)] = [
    ([.write, .indicate], true, .component),
    ([.write, .writeWithoutResponse, .notify, .indicate], true, .raw),
    ([.write, .writeWithoutResponse, .indicate], false, .nimbleOTA),
    ([.write, .writeWithoutResponse, .notify, .indicate], false, .bleOTA),
    ([.write, .notify], true, .other), ([.write, .indicate], false, .other),
    ([.read, .write, .writeWithoutResponse, .notify, .indicate], true, .raw),
  ]

  @Test(arguments: rows)
  func properties(
    _ properties: CharacteristicProperties, _ hasProgress: Bool, _ device: EspressifDevice
  ) {
    #expect(EspressifDevice(properties, hasProgress: hasProgress) == device)
  }

  @Test func theFirstAnswerDistinguishesTheComponents() throws {
    let nimble = try EspressifSectorAnswer(decoding: EspressifBytes.answer(0, 0, 0))
    let bluedroid = try EspressifSectorAnswer(decoding: EspressifBytes.answer(0, 0, 1))
    #expect(EspressifDevice.component.confirmed(by: nimble) == .nimble)
    #expect(EspressifDevice.component.confirmed(by: bluedroid) == .bluedroid)
    #expect(EspressifDevice.raw.confirmed(by: nimble) == .raw)
    let later = try EspressifSectorAnswer(decoding: EspressifBytes.answer(1, 0, 0))
    #expect(EspressifDevice.component.confirmed(by: later) == .component)
  }
}

enum EspressifBytes {
  static func answer(_ words: UInt16...) -> [UInt8] {
    var bytes = words.flatMap { [UInt8(truncatingIfNeeded: $0), UInt8($0 >> 8)] }
    bytes += [UInt8](repeating: 0, count: 18 - bytes.count)
    let crc = EspressifChecksum.checksum(bytes)
    return bytes + [UInt8(truncatingIfNeeded: crc), UInt8(crc >> 8)]
  }
}
