import OtaflashATT
import OtaflashFirmware
import OtaflashGATT
import OtaflashSimulation
import Testing

@testable import OtaflashUpdate

/// Tests of the simulated receivers, with scripts of raw writes: they must be as strict as devices.
@Suite struct SUOTAServerTests {
  /// A write to one of the characteristics.
  enum Write: Sendable {
    case word(UInt32)
    case pins(UInt32)
    case length(Int)
    case data([UInt8])
  }

  private static let start = Write.word(0x1300_0000)
  private static let end = Write.word(0xFE00_0000)
  private static let pins = Write.pins(0x0506_0300)

  private static func sample(_ chip: SUOTASettings.Chip, version: String = "1.3.0") -> [UInt8] {
    var settings = SUOTASettings()
    settings.chip = chip
    return SampleImage.suota([UInt8](1...200), version: version, settings: settings)
  }

  private static func summed(_ image: [UInt8]) -> [UInt8] { image + [image.reduce(0, ^)] }

  /// The writes of a complete image in one block.
  private static func complete(_ image: [UInt8]) -> [Write] {
    let data = summed(image)
    return [start, pins, .length(data.count)]
      + stride(from: 0, to: data.count, by: 200).map {
        .data(Array(data[$0..<min($0 + 200, data.count)]))
      } + [end]
  }

  @Test func completeTransfersAreAccepted() throws {
    for (chip, device) in [
      (SUOTASettings.Chip.da1453x, "suota-da1453x"), (.da1468x, "suota?chip=da1468x"),
    ] {
      let outcome = try script(
        Self.complete(Self.sample(chip)) + [.word(0xFD00_0000)], device)
      #expect(outcome.statuses == "100202")
      #expect(outcome.running == Self.sample(chip))
    }
  }

  /// Each script, and the statuses of a DA1453x.
  private static let scripts: [(name: String, statuses: String, writes: [Write])] = {
    let image = sample(.da1453x)
    let data = summed(image)
    return [
      ("a patch of the old service", "08", [.word(0x0300_0000)]),
      ("an image in RAM", "08", [.word(0x1000_0000)]),
      ("an unknown bank", "11", [.word(0x1300_0003)]),
      ("the end of the service", "1003", [start, .word(0xFF00_0000)]),
      ("the end without a start", "06", [end]),
      ("pins without a start", "08", [pins]),
      ("data without a start", "08", [.data([1])]),
      ("data without a length", "1005", [start, .data([1])]),
      ("a length of zero", "1005", [start, .length(0)]),
      ("a length without a start", "", [.length(4000)]),
      ("a length beyond the buffer", "1007", [start, .length(513)]),
      (
        "a first block without a header", "1012",
        [start, pins, .length(63), .data(Array(data[..<63]))]
      ),
      (
        "a wrong signature", "1012",
        [start, pins, .length(200), .data([0x70, 0x61] + data[2..<200])]
      ),
      ("no pins", "1016", [start, .length(200), .data(Array(data[..<200]))]),
      (
        "another memory", "1008",
        [.word(0x1200_0000), pins, .length(64), .data(Array(data[..<64]))]
      ),
      (
        "a packet beyond the block", "1005",
        [start, pins, .length(100), .data(Array(data[..<90])), .data(Array(data[90..<120]))]
      ),
      (
        "data beyond the image", "100206",
        [start, pins, .length(200), .data(Array(data[..<200])), .length(66)]
          + [.data(Array(data[200...]) + [0])]
      ),
      ("a wrong checksum", "10020204", wrongSum),
      ("a missing end", "100204", [start, pins, .length(200), .data(Array(data[..<200])), end]),
    ]
  }()

  private static let wrongSum: [Write] = {
    let image = sample(.da1453x)
    let bytes = image + [image.reduce(1, ^)]
    return [
      start, pins, .length(200), .data(Array(bytes[..<200])), .length(bytes.count - 200),
      .data(Array(bytes[200...])), end,
    ]
  }()

  @Test(arguments: scripts.indices)
  func everyErrorOfBlocksIsReported(_ index: Int) throws {
    let (name, statuses, writes) = Self.scripts[index]
    let outcome = try script(writes, "suota-da1453x")
    #expect(outcome.statuses == statuses, "\(name)")
    #expect(outcome.running != Self.sample(.da1453x), "\(name)")
    #expect(outcome.resets == 0, "\(name)")
  }

  /// The same image is refused before anything is erased.
  @Test func theSameImageIsRefused() throws {
    let image = Self.sample(.da1453x)
    let outcome = try script(Self.complete(image) + Self.complete(image), "suota-da1453x")
    #expect(outcome.statuses.hasPrefix("1002021015"), "\(outcome.statuses)")
  }

  /// Each script, and the statuses of a DA1468x.
  private static let streams: [(name: String, statuses: String, writes: [Write])] = {
    let image = sample(.da1468x)
    return [
      ("another memory", "", [.word(0x1200_0000)]),
      ("an unknown command", "", [.word(0x0100_0000)]),
      ("data without a length", "10", [start, .data(image)]),
      ("two blocks in one packet", "100202", [start, .length(100), .data(image)]),
      ("a remainder", "1002", [start, .length(150), .data(image)]),
      (
        "a header in two packets", "1002",
        [start, .length(236), .data(Array(image[..<10])), .data(Array(image[10...]))]
      ),
      (
        "bytes after the image", "10020202", [start, .length(236), .data(image), .data(image), end]
      ),
      ("a wrong signature", "1012", [start, .length(50), .data([0x70, 0x51] + image[2...])]),
      (
        "a wrong size", "1013",
        [start, .length(50), .data(Array(image[..<6]) + [0xFF, 0x7F] + image[8...])]
      ),
      (
        "a wrong CRC32", "100204", [start, .length(236), .data(Array(image.dropLast()) + [0]), end]
      ),
      ("a missing end", "1004", [start, .length(236), .data(Array(image.dropLast())), end]),
    ]
  }()

  @Test(arguments: streams.indices)
  func everyErrorOfAStreamIsReported(_ index: Int) throws {
    let (name, statuses, writes) = Self.streams[index]
    let outcome = try script(writes, "suota?chip=da1468x")
    #expect(outcome.statuses == statuses, "\(name)")
  }

  /// A length of zero causes an endless loop; some builds restart instead of reporting an error.
  @Test func someErrorsRestartTheDevice() throws {
    let image = Self.sample(.da1468x)
    let endless = try script([Self.start, .length(0), .data(image)], "suota?chip=da1468x")
    #expect(endless.statuses == "10" && endless.resets == 1)
    let asserted = try script(
      [Self.start, .length(50), .data([0] + image.dropFirst())],
      "suota?chip=da1468x&asserts=yes")
    #expect(asserted.statuses == "10" && asserted.resets == 1)
  }

  /// The end of the link restarts a stream receiver, also into an accepted image.
  @Test func theEndOfTheLinkRestartsAStreamReceiver() throws {
    let image = Self.sample(.da1468x)
    let outcome = try script(Self.complete(image), "suota?chip=da1468x")
    #expect(outcome.statuses == "100202" && outcome.running == image)
    let blocks = try script(Self.complete(Self.sample(.da1453x)), "suota-da1453x")
    #expect(blocks.statuses == "100202" && blocks.resets == 0)
    #expect(blocks.running != Self.sample(.da1453x))
  }

  // MARK: Scripts

  private struct ScriptOutcome: Sendable {
    let statuses: String
    let running: [UInt8]
    let resets: Int
  }

  /// Performs the writes, waits 3 seconds, disconnects, and waits for a reset.
  private func script(_ writes: [Write], _ profile: String) throws -> ScriptOutcome {
    try simulate("sim:" + profile) { board, clock in
      let command = Command<PeripheralTurn, String, UpdateFault>("script") {
        (turn) async throws(UpdateFault) -> String in
        let client = try await turn.connect(requestingMTU: 247)
        do throws(GATTFault) {
          guard let channel = try await SUOTAChannel.open(on: client, clock: clock) else {
            return "no service"
          }
          do throws(GATTFault) {
            for write in writes { try await perform(write, channel) }
          } catch .linkLost {
            // A device that restarts ends the link.
          }
          _ = await client.waitUntilEnded(within: .seconds(3), on: clock)
          var statuses = ""
          while let status = channel.statuses.poll() { statuses += hex(status.value) }
          return statuses
        } catch {
          throw .protocolViolation(.connect, "\(error)")
        }
      }
      let statuses = try await command.run(on: board.dialer, clock: clock)
      _ = await clock.pause(for: .seconds(3))
      return ScriptOutcome(
        statuses: statuses, running: try board.runningImage(), resets: board.counters.resets)
    }
  }

  private func perform(_ write: Write, _ channel: SUOTAChannel) async throws(GATTFault) {
    switch write {
    case .word(let word):
      let uuids = SUOTAUUIDs.all[0]
      let found = try await channel.client.characteristic(
        uuids.memoryDevice, in: uuids.service)
      try await channel.client.write(SUOTACommand.bytes(word), to: found)
    case .pins(let value): try await channel.write(pins: value)
    case .length(let length): try await channel.write(length: length)
    case .data(let bytes):
      var rest = bytes[...]
      try await channel.sendPackets({
        guard !rest.isEmpty else { return nil }
        defer { rest = rest.dropFirst(244) }
        return rest.prefix(244)
      }) { _ in }
    }
  }
}
