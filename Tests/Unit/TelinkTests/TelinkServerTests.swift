import OtaflashATT
import OtaflashFirmware
import OtaflashGATT
import OtaflashSimulation
import Testing

@testable import OtaflashUpdate

/// Tests of the simulated server, with scripts of raw writes: it must be as strict as a device.
@Suite struct TelinkServerTests {
  private static let body = (0..<64).map { UInt8($0) }
  private static let image = SampleImage.telink(body)

  private static func start(_ length: UInt8) -> [UInt8] {
    [0x03, 0xFF, length, 0] + [UInt8](repeating: 0, count: 16)
  }

  private static let legacyStart: [UInt8] = [0x01, 0xFF]

  private static func end(_ last: UInt8) -> [UInt8] { [0x02, 0xFF, last, 0, ~last, 0xFF] }

  /// The PDUs of an image, with `length` image bytes each.
  private static func pdus(_ image: [UInt8] = image, length: Int = 16) -> [[UInt8]] {
    stride(from: 0, to: image.count, by: length).enumerated().map { index, start in
      TelinkDataPDU.encoded(
        index: UInt16(index), image[start..<min(start + length, image.count)])
    }
  }

  private static func changed(_ image: [UInt8], at offset: Int, to byte: UInt8) -> [UInt8] {
    var image = image
    image[offset] = byte
    return image
  }

  @Test func aCompleteTransferIsAccepted() throws {
    for (start, length) in [(Self.legacyStart, 16), (Self.start(32), 32), (Self.start(64), 64)] {
      let pdus = Self.pdus(length: length)
      let end = Self.end(UInt8(pdus.count - 1))
      let outcome = try script([start] + pdus + [end])
      #expect(outcome.notices == ["06ff0000"], "\(length)")
      #expect(outcome.running == Self.image)
    }
  }

  /// Each script, and the result that the device reports.
  private static let scripts: [(name: String, result: UInt8, writes: [[UInt8]])] = {
    let pdus = Self.pdus()
    return [
      ("a missing PDU", 1, [legacyStart, pdus[0], pdus[2]]),
      ("a repeated PDU", 1, [legacyStart, pdus[0], pdus[0]]),
      ("an unknown command", 2, [[0x33, 0xFF]]),
      ("a short START_EXT", 2, [[0x03, 0xFF, 80]]),
      ("a single byte", 2, [[0x03]]),
      ("a wrong checksum", 3, [legacyStart, pdus[0].dropLast() + [pdus[0][19] ^ 1]]),
      ("END with another index", 5, [legacyStart] + pdus + [end(1)]),
      ("START during a transfer", 6, [legacyStart, legacyStart]),
      ("data without START", 6, [pdus[0]]),
      ("END without START", 6, [end(0)]),
      ("END without data", 6, [legacyStart, end(0)]),
      ("END before the last PDU", 7, [legacyStart] + pdus.dropLast() + [end(3)]),
      (
        "an image with a wrong trailer", 7,
        [legacyStart] + Self.pdus(changed(image, at: 40, to: 0xEE)) + [end(4)]
      ),
      ("a PDU length of 250", 9, [start(250)]), ("a PDU length of 24", 9, [start(24)]),
      ("a short PDU", 9, [start(32), pdus[0]]),
      (
        "a last PDU that is not shortened", 9,
        [start(48), Self.pdus(length: 48)[0]]
          + [
            TelinkDataPDU.encoded(
              index: 1, (image[48...] + [UInt8](repeating: 255, count: 28))[...])
          ]
      ),
      ("a PDU beyond the image", 9, [legacyStart] + pdus + [Self.pdus(image + image)[5]]),
      ("a wrong mark", 10, [legacyStart] + Self.pdus(changed(image, at: 8, to: 0))),
      ("a wrong size", 11, [legacyStart] + Self.pdus(changed(image, at: 0x18, to: 0x40))),
      (
        "a size beyond the slot", 11, [legacyStart] + Self.pdus(changed(image, at: 0x1A, to: 0xFF))
      ),
    ]
  }()

  @Test(arguments: scripts.indices)
  func everyErrorIsFatal(_ index: Int) throws {
    let (name, result, writes) = Self.scripts[index]
    // After an error, even a correct transfer is ignored.
    let outcome = try script(writes + [Self.legacyStart] + Self.pdus() + [Self.end(4)])
    #expect(outcome.notices == ["06ff" + hex([result, 0])], "\(name)")
    #expect(outcome.running != Self.image, "\(name)")
    #expect(outcome.resets == 1, "\(name)")
  }

  @Test func aTLSR825xRefusesLongPDUs() throws {
    #expect(try script([Self.start(96)], "telink?pdu=80").notices == ["06ff0f00"])
    #expect(try script([Self.start(80)], "telink?pdu=80").notices == ["06ff0c00"])
  }

  @Test func thePDUMustFitTheMTU() throws {
    #expect(try script([Self.start(96)], "telink?mtu=100").notices == ["06ff0900"])
    #expect(try script([Self.start(80)], "telink?mtu=87").notices == ["06ff0c00"])
  }

  @Test func anOldServerReportsNothing() throws {
    let outcome = try script([Self.pdus()[0]], "telink-legacy")
    #expect(outcome.notices == [] && outcome.resets == 1)
    let ignored = try script([Self.start(16)], "telink-legacy")
    #expect(ignored.resets == 0)
  }

  @Test func theTotalTimeIsLimited() throws {
    let outcome = try script([Self.legacyStart], "telink?packet=60s&total=2s")
    #expect(outcome.notices == ["06ff0d00"] && outcome.resets == 1)
  }

  @Test func theVersionIsCompared() throws {
    let refused = try script([[0x04, 0xFF, 5, 0, 1]], "telink?product=5")
    #expect(refused.notices == ["05ff050000"])
    let accepted = try script([[0x04, 0xFF, 6, 0, 1]], "telink?product=5")
    #expect(accepted.notices == ["05ff050001"])
    let compared = try script([[0x03, 0xFF, 16, 1] + [UInt8](repeating: 0, count: 16)])
    #expect(compared.notices == ["06ff0800"])
  }

  @Test func progressIsReported() throws {
    let writes = [Self.legacyStart] + Self.pdus()
    let pdus = try script(writes, "telink?schedule=pdus&schedule-every=2&packet=60s&total=60s")
    #expect(pdus.notices == ["08ff0200", "08ff0400"])
    let bytes = try script(writes, "telink?schedule=size&schedule-every=2&packet=60s&total=60s")
    #expect(bytes.notices == ["09ff20000000", "09ff40000000"])
  }

  /// If the link ends during a transfer, the device sends no result and restarts.
  @Test func aDisconnectionEndsTheTransfer() throws {
    let outcome = try script([Self.legacyStart] + Self.pdus(), "telink?packet=60s&total=60s")
    #expect(outcome.notices == [] && outcome.resets == 1)
  }

  // MARK: Scripts

  private struct ScriptOutcome: Sendable {
    let notices: [String]
    let running: [UInt8]
    let resets: Int
  }

  /// Writes the values without response, waits 8 seconds, disconnects, and waits for a reset.
  private func script(
    _ values: [[UInt8]], _ profile: String = "telink"
  ) throws -> ScriptOutcome {
    try simulate("sim:" + profile) { board, clock in
      let command = Command<PeripheralTurn, [String], UpdateFault>("script") {
        (turn) async throws(UpdateFault) -> [String] in
        let client = try await turn.connect(requestingMTU: 247)
        do throws(GATTFault) {
          guard let channel = try await TelinkChannel.open(on: client, clock: clock) else {
            return []
          }
          for value in values {
            try await client.command(
              encoded: ATTPDU.encodeWriteCommand(channel.data.value, bytes: value[...]))
          }
          _ = await client.waitUntilEnded(within: .seconds(8), on: clock)
          var notices: [String] = []
          while let notice = channel.notices?.poll() { notices.append(hex(notice.value)) }
          return notices
        } catch {
          throw .protocolViolation(.connect, "\(error)")
        }
      }
      let notices = try await command.run(on: board.dialer, clock: clock)
      _ = await clock.pause(for: .seconds(3))
      return ScriptOutcome(
        notices: notices, running: try board.runningImage(), resets: board.counters.resets)
    }
  }
}
