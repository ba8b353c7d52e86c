import OtaflashATT
import OtaflashFirmware
import OtaflashGATT
import OtaflashSimulation
import Testing

/// A host that speaks Nordic's legacy DFU in bare octets and believes everything.
struct LegacyDFUHost {
  static let control: BluetoothUUID = "00001531-1212-efde-1523-785feabcd123"
  static let packet: BluetoothUUID = "00001532-1212-efde-1523-785feabcd123"
  static let version: BluetoothUUID = "00001534-1212-efde-1523-785feabcd123"

  var host: BareHost

  static func inBootLoader(of board: SimulatedBoard) async throws -> LegacyDFUHost {
    var host = try await BareHost.connected(to: board, mtu: 23)
    try await host.subscribe(control)
    if try await host.read(version) == [0x01, 0x00] {
      try await host.write(control, [0x01, 0x04])
      await host.waitForEnd()
      host = try await BareHost.connected(to: board, at: board.address.successor, mtu: 23)
      try await host.subscribe(control)
    }
    return LegacyDFUHost(host: host)
  }

  mutating func write(_ request: String) async throws {
    try await host.write(Self.control, hex(request))
  }

  mutating func ask(_ request: String) async throws -> String {
    text(try await host.ask(Self.control, hex(request)))
  }

  mutating func sendPacket(_ bytes: [UInt8]) async throws {
    try await host.command(Self.packet, bytes)
  }

  mutating func next() async throws -> String { text(try await host.next()) }

  mutating func begin(_ size: Int) async throws -> String {
    try await write("01 04")
    try await sendPacket(octets(0) + octets(0) + octets(UInt32(size)))
    return try await next()
  }

  mutating func sendInit(_ packet: [UInt8]) async throws -> String {
    try await write("02 00")
    try await sendPacket(packet)
    return try await ask("02 01")
  }

  mutating func sendImage(_ image: [UInt8], packetSize: Int = 20) async throws {
    try await write("03")
    for start in stride(from: 0, to: image.count, by: packetSize) {
      try await sendPacket(Array(image[start..<min(start + packetSize, image.count)]))
    }
  }

  /// The whole update, up to the device's reset.
  static func flash(_ image: [UInt8], to board: SimulatedBoard) async throws {
    var dfu = try await inBootLoader(of: board)
    _ = try await dfu.begin(image.count)
    _ = try await dfu.sendInit(initPacket(for: image))
    try await dfu.sendImage(image)
    _ = try await dfu.next()
    _ = try await dfu.ask("04")
    try await dfu.write("05")
    await dfu.host.waitForEnd()
  }

  static func initPacket(
    for image: [UInt8], type: UInt16 = 1, revision: UInt16 = 1, softDevices: [UInt16] = [0x64]
  ) -> [UInt8] {
    let words =
      [type, revision, 3, 0, UInt16(softDevices.count)] + softDevices + [crc16(image)]
    return words.flatMap { [UInt8(truncatingIfNeeded: $0), UInt8($0 >> 8)] }
  }

  /// CCITT, started with FFFF; `123456789` gives 29B1.
  static func crc16(_ bytes: [UInt8]) -> UInt16 {
    bytes.reduce(0xFFFF) { crc, octet in
      (0..<8).reduce(crc ^ UInt16(octet) << 8) { crc, _ in
        crc & 0x8000 == 0 ? crc << 1 : crc << 1 ^ 0x1021
      }
    }
  }
}

/// Nordic's legacy boot loader and InfiniTime's, rule by rule, over the modelled radio.
@Suite struct LegacyBootLoaderTests {
  static let image = makeImage(5000, version: FirmwareVersion(1, 3, 0))

  @Test func theChecksumIsThatOfTheSpecification() {
    #expect(LegacyDFUHost.crc16(Array("123456789".utf8)) == 0x29B1)
  }

  @Test(arguments: ["nordic-legacy", "infinitime", "nordic-legacy?loss=5%&entry=button"])
  func anImageIsReceivedAndRuns(profile: String) throws {
    try withBoard(profile) { board, _ in
      try await LegacyDFUHost.flash(Self.image, to: board)
      var host = try await BareHost.connected(to: board)
      #expect(try await host.read(BluetoothUUID(0x2A26)) == Array("1.3.0".utf8))
      #expect(try board.runningImage() == Self.image)
      #expect(board.flashFaults == [])
    }
  }

  @Test func theApplicationOnlyLeadsToTheBootLoader() throws {
    try withBoard("nordic-legacy") { board, _ in
      var host = try await BareHost.connected(to: board)
      #expect(try await host.read(LegacyDFUHost.version) == [1, 0])
      #expect(!host.has(LegacyDFUHost.packet))
      await #expect(throws: BareHost.Fault.refused(ATTErrorCode(0xFD))) {
        try await host.write(LegacyDFUHost.control, [1, 4])
      }
      host.link.close()
      var dfu = try await LegacyDFUHost.inBootLoader(of: board)
      #expect(try await dfu.host.read(LegacyDFUHost.version) == [8, 0])
      #expect(dfu.host.has(LegacyDFUHost.packet))
    }
  }

  @Test(arguments: [
    ("02 00", "10 02 02"), ("03", "10 03 02"), ("04", "10 04 02"), ("05", "10 05 02"),
    ("07", "10 07 01 00 00 00 00"), ("09", "10 09 03"), ("01 01", "10 01 03"), ("01", "10 01 03"),
  ])
  func whatIsOutOfOrderIsRefused(request: String, answer: String) throws {
    try withBoard("nordic-legacy") { board, _ in
      var dfu = try await LegacyDFUHost.inBootLoader(of: board)
      #expect(try await dfu.ask(request) == answer)
    }
  }

  @Test(arguments: [
    (5000, "10 01 01"), (524_292, "10 01 04"), (5001, "10 01 03"), (0, "10 01 03"),
  ])
  func theSizeIsAnsweredWhenAllIsErased(size: Int, answer: String) throws {
    try withBoard("nordic-legacy") { board, clock in
      var dfu = try await LegacyDFUHost.inBootLoader(of: board)
      let begun = clock.now
      #expect(try await dfu.begin(size) == answer)
      if size == 5000 { #expect(begun.duration(to: clock.now) > .milliseconds(2 * 85)) }
    }
  }

  /// Hosts that begin and go leave erases behind; the flash's queue ends somewhere.
  @Test func hostsThatComeAndGoFillNoQueueForEver() throws {
    try withBoard("nordic-legacy?erase=20s&slot=16K") { board, _ in
      var last = ""
      for _ in 0..<40 where last.isEmpty {
        var dfu = try await LegacyDFUHost.inBootLoader(of: board)
        try await dfu.write("01 04")
        try await dfu.sendPacket(octets(0) + octets(0) + octets(4096))
        if try await dfu.ask("09") == "10 01 06" { last = "10 01 06" }
        dfu.host.link.close()
      }
      #expect(last == "10 01 06")
    }
  }

  @Test func aSoftDeviceIsNotTakenHere() throws {
    try withBoard("nordic-legacy") { board, _ in
      var dfu = try await LegacyDFUHost.inBootLoader(of: board)
      try await dfu.write("01 04")
      try await dfu.sendPacket(octets(4) + octets(0) + octets(4))
      #expect(try await dfu.next() == "10 01 03")
    }
  }

  @Test func anInitPacketNamesTheDevice() throws {
    let examples: [([UInt8], String)] = [
      (LegacyDFUHost.initPacket(for: Self.image, type: 2), "10 02 05"),
      (LegacyDFUHost.initPacket(for: Self.image, revision: 2), "10 02 05"),
      (LegacyDFUHost.initPacket(for: Self.image, softDevices: [0x65]), "10 02 05"),
      (LegacyDFUHost.initPacket(for: Self.image, softDevices: []), "10 02 05"),
      ([1, 2, 3], "10 02 05"),
      (
        LegacyDFUHost.initPacket(
          for: Self.image, type: 0xFFFF, revision: 0xFFFF, softDevices: [0x65, 0xFFFE]),
        "10 02 01"
      ),
    ]
    try withBoard("nordic-legacy") { board, _ in
      var dfu = try await LegacyDFUHost.inBootLoader(of: board)
      _ = try await dfu.begin(5000)
      for (packet, answer) in examples { #expect(try await dfu.sendInit(packet) == answer) }
    }
  }

  @Test func receiptsCountPackets() throws {
    try withBoard("nordic-legacy") { board, _ in
      var dfu = try await LegacyDFUHost.inBootLoader(of: board)
      _ = try await dfu.begin(200)
      _ = try await dfu.sendInit(
        LegacyDFUHost.initPacket(for: Array(Self.image.prefix(200))))
      try await dfu.write("08 04 00")
      try await dfu.sendImage(Array(Self.image.prefix(200)))
      #expect(try await dfu.next() == "11 50 00 00 00")
      #expect(try await dfu.next() == "11 a0 00 00 00")
      #expect(try await dfu.next() == "10 03 01")
      #expect(try await dfu.ask("07") == "10 07 01 c8 00 00 00")
    }
  }

  /// InfiniTime reads one octet of the number.
  @Test func theWatchLooksAtTheLowOctetAlone() throws {
    try withBoard("infinitime") { board, _ in
      var dfu = try await LegacyDFUHost.inBootLoader(of: board)
      _ = try await dfu.begin(200)
      _ = try await dfu.sendInit(
        LegacyDFUHost.initPacket(for: Array(Self.image.prefix(200))))
      try await dfu.write("08 04 01")
      try await dfu.sendImage(Array(Self.image.prefix(200)))
      #expect(try await dfu.next() == "11 50 00 00 00")
    }
  }

  @Test(arguments: ["nordic-legacy?mtu=247", "infinitime"])
  func aPacketOfMoreThan20OctetsEndsInAReset(profile: String) throws {
    try withBoard(profile) { board, _ in
      var dfu = try await LegacyDFUHost.inBootLoader(of: board)
      guard
        case .exchangeMTU = try await dfu.host.request(.exchangeMTU(clientReceiveMTU: 247))
      else { return }
      _ = try await dfu.begin(5000)
      _ = try await dfu.sendInit(LegacyDFUHost.initPacket(for: Self.image))
      let resets = board.counters.resets
      try await dfu.sendImage(Array(Self.image.prefix(24)), packetSize: 24)
      await dfu.host.waitForEnd()
      #expect(board.counters.resets == resets + 1)
    }
  }

  @Test func moreThanTheSizeIsRefused() throws {
    try withBoard("nordic-legacy") { board, _ in
      var dfu = try await LegacyDFUHost.inBootLoader(of: board)
      _ = try await dfu.begin(24)
      _ = try await dfu.sendInit(LegacyDFUHost.initPacket(for: Array(Self.image.prefix(24))))
      try await dfu.sendImage(Array(Self.image.prefix(40)))
      #expect(try await dfu.next() == "10 03 04")
    }
  }

  @Test func anImageOfAnotherChecksumIsRefused() throws {
    try withBoard("nordic-legacy") { board, _ in
      let factory = try board.runningImage()
      var image = Self.image
      var dfu = try await LegacyDFUHost.inBootLoader(of: board)
      _ = try await dfu.begin(image.count)
      _ = try await dfu.sendInit(LegacyDFUHost.initPacket(for: image))
      image[77] ^= 1
      try await dfu.sendImage(image)
      #expect(try await dfu.next() == "10 03 01")
      #expect(try await dfu.ask("04") == "10 04 05")
      #expect(try await dfu.ask("05") == "10 05 02")
      #expect(try board.runningImage() == factory)
    }
  }

  @Test func theWatchGivesUpAfterTenSeconds() throws {
    try withBoard("infinitime") { board, clock in
      var dfu = try await LegacyDFUHost.inBootLoader(of: board)
      _ = try await dfu.begin(5000)
      _ = try await dfu.sendInit(LegacyDFUHost.initPacket(for: Self.image))
      try await dfu.sendImage(Array(Self.image.prefix(200)))
      await clock.pause(for: .seconds(11))
      #expect(try await dfu.ask("04") == "10 04 02")
      #expect(try await dfu.begin(5000) == "10 01 01")
    }
  }

  @Test func theWatchTakesImagesOf475136Octets() throws {
    try withBoard("infinitime?erase=0") { board, _ in
      var dfu = try await LegacyDFUHost.inBootLoader(of: board)
      #expect(try await dfu.begin(475_137) == "10 01 04")
      #expect(try await dfu.begin(475_136) == "10 01 01")
    }
  }

  @Test func aWatchWhoseUserForbadeUpdatesRefuses() throws {
    try withBoard("infinitime?disabled=yes") { board, _ in
      var host = try await BareHost.connected(to: board, mtu: 23)
      try await host.subscribe(LegacyDFUHost.control)
      await #expect(throws: BareHost.Fault.refused(.insufficientAuthorization)) {
        try await host.write(LegacyDFUHost.control, [1, 4])
      }
    }
  }

  @Test func anImageOnTrialIsTakenBackByTheNextReset() throws {
    try withBoard("infinitime?trial=yes") { board, _ in
      let factory = try board.runningImage()
      try await LegacyDFUHost.flash(Self.image, to: board)
      var host = try await BareHost.connected(to: board)
      #expect(try board.runningImage() == Self.image)
      board.powerCut()
      await host.waitForEnd()
      host = try await BareHost.connected(to: board)
      #expect(try board.runningImage() == factory)
    }
  }

  @Test(arguments: Array(1...30).filter { $0.isMultiple(of: 3) })
  func aResetInAnyFlashOperationLeavesOneOfTheTwoImages(operation: Int) throws {
    let image = Array(Self.image.prefix(400))
    try withBoard("nordic-legacy?torn&reset-at-flash-op=\(operation)") { board, _ in
      let factory = try board.runningImage()
      for _ in 0..<3 where try board.runningImage() != image {
        #expect(try board.runningImage() == factory)
        do {
          try await LegacyDFUHost.flash(image, to: board)
          _ = try await BareHost.connected(to: board, at: board.address)
        } catch BareHost.Fault.linkLost {
          continue
        }
      }
      #expect(try board.runningImage() == image)
      #expect(board.flashFaults == [])
    }
  }
}
