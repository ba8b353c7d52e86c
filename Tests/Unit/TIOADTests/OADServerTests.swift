import OtaflashATT
import OtaflashFirmware
import OtaflashGATT
import OtaflashSimulation
import Testing

@testable import OtaflashUpdate

/// Tests of the simulated device, with scripts of raw writes: it must be as strict as TI's profile.
@Suite struct OADServerTests {
  private static let image = SampleImage.oad(
    [UInt8](0..<200), identification: Array("CC26x2R1".utf8), type: 7,
    softwareVersion: [1, 3, 0, 0])

  private static func announcement(_ image: [UInt8] = image) -> [UInt8] {
    [0..<8, 12..<14, 16..<20, 24..<28, 32..<36].flatMap { (field: Range<Int>) in image[field] }
  }

  private static func changed(_ bytes: [UInt8], at offset: Int, to byte: UInt8) -> [UInt8] {
    var bytes = bytes
    bytes[offset] = byte
    return bytes
  }

  /// The blocks of an image at the MTU 103: 100 bytes with 96 image bytes.
  private static func blocks(_ image: [UInt8] = image, _ size: Int = 96) -> [OADStep] {
    stride(from: 0, to: image.count, by: size).enumerated().map { number, start in
      .block(number, Array(image[start..<min(start + size, image.count)]))
    }
  }

  private static let begin: [OADStep] = [.identify(announcement()), .control([3])]

  @Test func aCompleteTransferIsAccepted() throws {
    let outcome = try OADScript.run([.control([1])] + Self.begin + Self.blocks() + [.control([4])])
    #expect(
      outcome.notices == [
        "016400", "00", "120000000000", "120001000000", "120002000000", "120e00000000", "0400",
      ])
    #expect(outcome.running == Self.image)
  }

  /// Each script for a Boot Image Manager, and the notifications of the device.
  static let scripts: [(name: String, notices: [String], steps: [OADStep])] = {
    let blocks = Self.blocks()
    let other = Array("CC13x2R1".utf8) + image.dropFirst(8)
    return [
      ("START without an announcement", ["0305"], [.control([3])]),
      ("a block without an announcement", ["120500000000"], [blocks[0]]),
      (
        "a block before START, which discards the announcement", ["00", "120500000000", "0305"],
        [.identify(announcement()), blocks[0], .control([3])]
      ),
      (
        "a second announcement", ["00", "120500000000"],
        [.identify(announcement()), .identify(announcement())]
      ),
      ("a wrong number", ["00", "120000000000", "120300000000"], begin + [blocks[1]]),
      (
        "a repeated block", ["00", "120000000000", "120001000000", "120300000000"],
        begin + [blocks[0], blocks[0]]
      ),
      (
        "a short block", ["00", "120000000000", "120300000000"],
        begin + [.block(0, Array(image[..<95]))]
      ),
      (
        "a last block that is too long",
        ["00", "120000000000", "120001000000", "120002000000", "120300000000"],
        begin + [blocks[0], blocks[1], .block(2, [UInt8](repeating: 1, count: 96))]
      ),
      (
        "a block after an error", ["00", "120000000000", "120300000000", "120500000000"],
        begin + [blocks[1], .pause(100), blocks[2]]
      ),
      ("ENABLE without an image", ["0406"], [.control([4])]),
      (
        "ENABLE in a transfer", ["00", "120000000000", "120001000000", "0406"],
        begin + [blocks[0], .control([4])]
      ),
      ("CANCEL without a transfer", ["0505"], [.control([5])]),
      // The answer to a successful command is lost with the connection that the profile forgets.
      (
        "CANCEL in a transfer", ["00", "120000000000", "0305"],
        begin + [.control([5]), .control([3])]
      ),
      ("an unknown command", ["ff"], [.control([0x33])]),
      ("an empty command", ["ff"], [.control([])]),
      ("another chip", ["0a"], [.identify(announcement(other))]),
      ("another BIM", ["0b"], [.identify(changed(announcement(), at: 8, to: 2))]),
      ("a persistent application", ["09"], [.identify(changed(announcement(), at: 12, to: 0))]),
      ("a size beyond the slot", ["08"], [.identify(changed(announcement(), at: 17, to: 1))]),
      ("a short announcement", ["0a"], [.identify([1, 2])]),
      (
        "three images that are refused", ["0a", "0a", "10"],
        [OADStep](repeating: .identify(announcement(other)), count: 3)
      ),
      (
        "an address that is not aligned", ["00", "120000000000", "120900000000"],
        begin + Self.blocks(changed(image, at: 53, to: 1)).prefix(1)
      ),
      (
        "a wrong CRC32",
        ["00", "120000000000", "120001000000", "120002000000", "120103000000", "0406"],
        begin + Self.blocks(changed(image, at: 90, to: 0xEE)) + [.control([4])]
      ),
    ]
  }()

  @Test(arguments: scripts.indices)
  func errorsAreAnswered(_ index: Int) throws {
    let (name, notices, steps) = Self.scripts[index]
    let outcome = try OADScript.run(steps)
    #expect(outcome.notices == notices, "\(name)")
    #expect(outcome.running != Self.image, "\(name)")
    #expect(outcome.resets == 0, "\(name)")
  }

  @Test func anImageThatCannotRunIsNotEnabled() throws {
    let host = SampleImage.oad(
      [UInt8](0..<200), identification: Array("CC26x2R1".utf8), type: 40,
      softwareVersion: [1, 3, 0, 0])
    let outcome = try OADScript.run(
      [.identify(Self.announcement(host)), .control([3])] + Self.blocks(host) + [.control([4])])
    #expect(outcome.notices.last == "0409" && outcome.resets == 0)
  }

  @Test func inactivityDiscardsTheTransfer() throws {
    let late = try OADScript.run(Self.begin + [.pause(10_100)] + [Self.blocks()[0]])
    #expect(late.notices == ["00", "120000000000", "120500000000"])
    let complete = try OADScript.run(Self.begin + Self.blocks() + [.pause(10_100), .control([4])])
    #expect(complete.notices.last == "0406" && complete.resets == 0)
  }

  /// Without memory, the application cancels the transfer without a notification.
  @Test func anOverflowDiscardsTheTransfer() throws {
    let outcome = try OADScript.run(
      Self.begin + [.pause(100)] + Self.blocks() + [.pause(500), .control([3])],
      "ti-oad?memory=1&mtu=103&erase=20ms")
    #expect(outcome.notices == ["00", "120000000000", "0305"])
  }

  @Test(arguments: [(23, 20), (100, 96), (103, 100), (247, 244), (517, 244)])
  func theBlockFollowsTheMTU(_ mtu: Int, _ size: Int) throws {
    let outcome = try OADScript.run([.control([1])], "ti-oad?mtu=\(mtu)")
    #expect(outcome.notices == ["01" + hex([UInt8(size), 0])])
    let fixed = try OADScript.run([.control([1])], "ti-oad-mcuboot?mtu=\(mtu)")
    #expect(fixed.notices == ["01f000"])
  }

  @Test func theVersionIsThatOfTheRunningImage() throws {
    #expect(try OADScript.run([.control([7])]).notices == ["0701020000"])
    #expect(try OADScript.run([.control([7])], "ti-oad-mcuboot").notices == ["07010200000000"])
    #expect(try OADScript.run([.control([7])], "ti-oad?reports-version=no").notices == ["ff"])
    #expect(
      try OADScript.run([.control([7])], "ti-oad-mcuboot?reports-version=no").notices == ["07ff"])
  }

  // MARK: MCUboot

  private static let mcuboot = [UInt8](0..<236)

  private static func header(_ size: UInt8) -> [UInt8] {
    [0x3D, 0xB8, 0xF3, 0x96] + [UInt8](repeating: 0, count: 8) + [size, 0, 0, 0]
      + [UInt8](repeating: 0, count: 16)
  }

  @Test func theProfileWithMCUbootAnswersWithEvents() throws {
    let scripts: [(notices: [String], steps: [OADStep])] = [
      (["0305"], [.control([3])]), (["0405"], [.control([4])]), (["0505"], [.control([5])]),
      (["0105"], [.block(0, Self.mcuboot)]), (["09ff"], [.control([9])]),
      (["00", "0104"], [.identify(Self.header(250)), .block(0, Self.mcuboot)]),
      (["00", "0004"], [.identify(Self.header(250)), .identify(Self.header(250))]),
      (["00", "0404"], [.identify(Self.header(250)), .control([4])]),
      (["00", "0500"], [.identify(Self.header(250)), .control([5])]),
      (["0a"], [.identify([UInt8](repeating: 0, count: 32))]),
      (["0a"], [.identify(Self.header(0))]),
      (
        ["00", "120000000000", "120001000000", "120e02000000", "0304"],
        [
          .identify(Self.header(246)), .control([3]), .block(0, Self.mcuboot),
          .block(1, [UInt8](0..<10)), .control([3]),
        ]
      ),
      (
        ["00", "120000000000", "120300000000", "0105"],
        [
          .identify(Self.header(246)), .control([3]), .block(1, Self.mcuboot), .pause(100),
          .block(0, Self.mcuboot),
        ]
      ),
    ]
    for (index, (notices, steps)) in scripts.enumerated() {
      #expect(try OADScript.run(steps, "ti-oad-mcuboot").notices == notices, "script \(index)")
    }
  }

  /// MCUboot checks the hash after the restart, and keeps the old image.
  @Test func aWrongHashIsNoticedOnlyByTheBootloader() throws {
    let outcome = try OADScript.run(
      [
        .identify(Self.header(246)), .control([3]), .block(0, Self.mcuboot),
        .block(1, [UInt8](0..<10)), .control([4]),
      ], "ti-oad-mcuboot")
    #expect(outcome.notices.last == "0400" && outcome.resets == 1)
    #expect(outcome.running.count > 1000)
  }
}
