import OtaflashATT
import OtaflashFirmware
import OtaflashGATT
import OtaflashSimulation
import Testing

@testable import OtaflashUpdate

/// Tests of the simulated devices, rule by rule: the answers of the five implementations to the
/// same writes.
@Suite struct EspressifRulesTests {
  /// A write to the characteristic for commands, or to the characteristic for firmware.
  struct Step: Sendable {
    let isCommand: Bool
    let bytes: [UInt8]

    static func command(_ words: UInt16...) -> Step {
      Step(isCommand: true, bytes: EspressifBytes.answer(words[0], words[1], words[2]))
    }

    static func packet(_ sector: UInt16, _ sequence: UInt8, _ data: [UInt8]) -> Step {
      Step(
        isCommand: false,
        bytes: [UInt8(truncatingIfNeeded: sector), UInt8(sector >> 8), sequence] + data)
    }

    /// The last packet of a sector.
    static func last(_ sector: UInt16, _ data: [UInt8], crcOf part: [UInt8]) -> Step {
      let crc = EspressifChecksum.checksum(part)
      return .packet(sector, 0xFF, data + [UInt8(truncatingIfNeeded: crc), UInt8(crc >> 8)])
    }
  }

  /// Writes the steps with response, and returns the answers: `id.status` of a command,
  /// `sector.status.wanted` of a sector, and `refused` for an ATT error.
  static func answers(_ name: String, _ steps: [Step]) throws -> [[String]] {
    try simulate(quick(name)) { board, clock in
      try await withPeripheral(board.dialer, clock: clock) { peripheral in
        try await peripheral.perform("steps") { client in
          let channel = try await EspressifChannel.open(on: client, clock: clock)
          let commands = try await client.subscribe(to: channel.command)
          let firmware = try await client.subscribe(to: channel.firmware)
          var found: [[String]] = []
          for step in steps {
            var answers: [String] = []
            do throws(GATTFault) {
              try await client.write(
                step.bytes, to: step.isCommand ? channel.command : channel.firmware)
            } catch {
              answers.append("refused")
            }
            _ = await clock.pause(for: .milliseconds(400))
            while let value = commands.poll()?.value {
              let answer = try EspressifCommandAnswer(decoding: value)
              answers.append("\(answer.id).\(answer.status.rawValue)")
            }
            while let value = firmware.poll()?.value {
              let answer = try EspressifSectorAnswer(decoding: value)
              answers.append("\(answer.sector).\(answer.status.rawValue).\(answer.wanted)")
            }
            found.append(answers)
          }
          return found
        }
      }
    }
  }

  static let start = Step.command(1, 9000, 0)
  static let sector = [0xE9] + body(99)

  @Test(arguments: [
    ("esp-nimble", ["1.0"]), ("esp-bluedroid", ["1.1"]), ("esp-raw", ["1.1"]),
    ("esp-nimbleota", ["1.0"]), ("esp-bleota", ["1.0", "1.0"]),
  ])
  func startDuringATransfer(_ name: String, _ wanted: [String]) throws {
    let found = try Self.answers(name, [Self.start, Self.start])
    #expect(Set(found[0]) == ["1.0"] && Set(found[1]) == Set(wanted), "\(found)")
  }

  @Test(arguments: [
    ("esp-nimble", ["2.0"]), ("esp-bluedroid", ["2.1"]), ("esp-raw", ["2.1"]),
    ("esp-nimbleota", ["2.1"]), ("esp-bleota", []),
  ])
  func stopWithoutATransfer(_ name: String, _ wanted: [String]) throws {
    #expect(try Self.answers(name, [.command(2, 0, 0)]) == [wanted])
  }

  @Test(arguments: [
    ("esp-nimble", ["refused", "7.2.0"]), ("esp-bluedroid", ["7.2.0"]), ("esp-raw", ["7.2.0"]),
    ("esp-nimbleota", []), ("esp-bleota", ["7.2.0"]),
  ])
  func aPacketOfAWrongSector(_ name: String, _ wanted: [String]) throws {
    let found = try Self.answers(name, [.packet(7, 0, [1]), Self.start, .packet(7, 0, [1])])
    // BLEOTA also answers without a transfer.
    #expect(found[0] == (name == "esp-bleota" ? ["7.2.0"] : []))
    #expect(Set(found[2]) == Set(wanted), "\(found)")
  }

  @Test(arguments: [
    ("esp-nimble", ["0.0.0"]), ("esp-bluedroid", ["0.0.1"]), ("esp-raw", ["0.1.0"]),
    ("esp-nimbleota", ["0.3.0"]), ("esp-bleota", ["0.1.0"]),
  ])
  func aSectorWithAWrongChecksum(_ name: String, _ wanted: [String]) throws {
    let found = try Self.answers(name, [Self.start, .last(0, Self.sector, crcOf: [1])])
    #expect(Set(found[1]) == Set(wanted), "\(found)")
  }

  @Test(arguments: [
    ("esp-nimble", ["refused"]), ("esp-bluedroid", []), ("esp-raw", ["0.3.0"]),
    ("esp-nimbleota", []), ("esp-bleota", []),
  ])
  func aPacketOutOfOrder(_ name: String, _ wanted: [String]) throws {
    let found = try Self.answers(name, [Self.start, .packet(0, 2, [1, 2])])
    #expect(found[1] == wanted)
  }

  @Test(arguments: [
    ("esp-nimble", ["1.0"]), ("esp-bluedroid", ["1.0"]), ("esp-raw", ["1.1"]),
    ("esp-nimbleota", ["1.1"]), ("esp-bleota", []),
  ])
  func aCommandWithAWrongChecksum(_ name: String, _ wanted: [String]) throws {
    var damaged = Self.start.bytes
    damaged[19] ^= 1
    #expect(try Self.answers(name, [Step(isCommand: true, bytes: damaged)]) == [wanted])
  }

  /// An empty sector is accepted: a host must never send it.
  @Test func anEmptySectorIsAcceptedByTheRawComponent() throws {
    let found = try Self.answers("esp-raw", [Self.start, .last(0, [], crcOf: [])])
    #expect(found[1] == ["0.0.1"])
  }

  @Test func aSectorBeyondTheBufferCrashesBluedroid() throws {
    let packets = (0..<9).map { Step.packet(0, $0, [UInt8](repeating: 1, count: 500)) }
    let found = try Self.answers("esp-bluedroid", [Self.start] + packets + [Self.start])
    #expect(found[0] == ["1.0"] && found[9...] == [["refused"], ["refused"]])
  }
}
