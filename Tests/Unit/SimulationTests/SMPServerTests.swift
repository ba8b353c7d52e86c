import OtaflashATT
import OtaflashFirmware
import OtaflashGATT
import OtaflashSimulation
import OtaflashTestSupport
import OtaflashUpdate
import OtaflashWire
import Testing

/// Tests of the SMP server: messages, buffers, uploads. The slots are small so that erases take
/// little time.
@Suite struct SMPServerTests {
  static let profile = "smp?slot=64K"
  static let file = BootableFile()

  @discardableResult
  private func withServer<Value: Sendable>(
    _ settings: String = "", mtu: UInt16 = 498,
    _ body: @escaping @Sendable (inout SMPHost, SimulatedBoard, VirtualClock) async throws -> Value
  ) throws -> Value {
    try withBoard(Self.profile + settings) { board, clock in
      var host = try await SMPHost.connected(to: board, mtu: mtu)
      let value = try await body(&host, board, clock)
      #expect(board.flashFaults == [])
      return value
    }
  }

  // MARK: Messages

  @Test(arguments: [
    // Echo "hi", in both versions.
    ("0a 00 00 06 00 00 42 00 a1 61 64 62 68 69", "0b 00 00 06 00 00 42 00 a1 61 72 62 68 69"),
    ("02 00 00 06 00 00 42 00 a1 61 64 62 68 69", "03 00 00 06 00 00 42 00 a1 61 72 62 68 69"),
    // The buffer parameters: 4 buffers of 2475 bytes.
    (
      "00 00 00 01 00 00 ff 06 a0",
      "01 00 00 18 00 00 ff 06 a2 68 62 75 66 5f 73 69 7a 65 19 09 ab"
        + " 69 62 75 66 5f 63 6f 75 6e 74 04"
    ),
    // The group is unknown: not supported.
    ("08 00 00 01 00 0a 03 00 a0", "09 00 00 05 00 0a 03 00 a1 62 72 63 08"),
    // The body is not a map, or is truncated: invalid.
    ("08 00 00 01 00 01 03 00 80", "09 00 00 05 00 01 03 00 a1 62 72 63 03"),
    ("08 00 00 01 00 01 03 00 a1", "09 00 00 05 00 01 03 00 a1 62 72 63 03"),
    // The version does not exist yet: too new.
    ("10 00 00 01 00 00 03 06 a0", "11 00 00 05 00 00 03 06 a1 62 72 63 0d"),
  ])
  func aMessageIsAnswered(message: String, answer: String) throws {
    try withServer { (host, _, _) async throws in #expect(try await host.ask(message) == answer) }
  }

  @Test(arguments: SMPServerSettings.BootMode.allCases)
  func theBootloaderReportsItsMode(mode: SMPServerSettings.BootMode) throws {
    try withServer("&mode=\(mode.rawValue)") { (host, _, _) async throws in
      let info = try await host.call(SMPOS.BootloaderInfo(query: "mode")).get()
      let modes: [SMPServerSettings.BootMode: MCUbootMode] = [
        .single: .singleApplication, .swapScratch: .swapUsingScratch, .overwrite: .overwriteOnly,
        .swapMove: .swapWithoutScratch, .directXIP: .directXIP,
        .directXIPRevert: .directXIPWithRevert, .ramLoad: .ramLoad,
        .firmwareLoader: .firmwareLoader,
      ]
      #expect(info.mode == modes[mode]?.rawValue)
      #expect(try await host.call(SMPOS.BootloaderInfo()).get().bootloader == "MCUboot")
    }
  }

  @Test func aServerMayNotReportItsBuffers() throws {
    try withServer("&params=no&bootinfo=no") { (host, _, _) async throws in
      #expect(
        try await host.call(SMPOS.Parameters()) == .failure(SMPRefusal(.general(8))))
      #expect(
        try await host.call(SMPOS.BootloaderInfo()) == .failure(SMPRefusal(.general(8))))
    }
  }

  @Test func theFirstVersionHasOneSetOfCodes() throws {
    try withServer { (host, _, _) async throws in
      let request = SMPImage.WriteState(hash: [UInt8](repeating: 1, count: 32), isConfirmed: false)
      #expect(
        try await host.call(request) == .failure(SMPRefusal(.group(.image, 8))))
      #expect(try await host.call(request, version: .v1) == .failure(SMPRefusal(.general(1))))
    }
  }

  @Test func anOldServerRefusesTheSecondVersion() throws {
    try withServer("&v1=yes") { (host, _, _) async throws in
      #expect(
        try await host.call(SMPOS.Echo("hi")) == .failure(SMPRefusal(.general(13))))
      #expect(try await host.call(SMPOS.Echo("hi"), version: .v1).get().text == "hi")
    }
  }

  @Test func aBusyServerReportsTheConfiguredNumberOfTimes() throws {
    try withServer("&busy=2") { (host, _, _) async throws in
      for _ in 0..<2 {
        #expect(
          try await host.call(SMPImage.Erase()) == .failure(SMPRefusal(.general(10))))
      }
      #expect(try await host.call(SMPImage.Erase()) == .success(SMPDone()))
    }
  }

  @Test func anUnauthenticatedLinkIsRefused() throws {
    try withBoard("smp?security=authenticated") { board, _ in
      var host = try await BareHost.connected(to: board)
      for security in [[], .encryption] as [AttributeSecurity] {
        try await host.link.raiseSecurity(to: security)
        await #expect(throws: BareHost.Fault.refused(.insufficientAuthentication)) {
          try await host.subscribe(SMPHost.characteristic)
        }
      }
      try await host.link.raiseSecurity(to: .authentication)
      try await host.subscribe(SMPHost.characteristic)
      var smp = SMPHost(host)
      #expect(try await smp.call(SMPOS.Echo("hi")).get().text == "hi")
    }
  }

  // MARK: Buffers

  @Test func fragmentsAreReassembled() throws {
    try withServer("", mtu: 23) { (host, _, _) async throws in
      let long = String(repeating: "x", count: 300)
      #expect(try await host.call(SMPOS.Echo(long)).get().text == long)
    }
  }

  @Test func withoutReassemblyAWriteIsAMessage() throws {
    try withServer("&reassembly=no", mtu: 23) { (host, _, _) async throws in
      try await host.post(SMPOS.Echo("0123456789"))
      // The first fragment is truncated and rejected; the second is ignored.
      let answer = try await host.answer(to: SMPOS.Echo.self)
      #expect(answer == .failure(SMPRefusal(.general(3))))
    }
  }

  /// The erase of the slot keeps the server busy, so a request that finds no free buffer is lost
  /// without an error.
  @Test func aRequestWithoutABufferIsLost() throws {
    try withServer("&netbufs=4x512") { (host, _, _) async throws in
      _ = try await host.upload(Self.file.bytes, to: 400)
      try await host.post(SMPImage.Erase())
      for _ in 0..<5 { try await host.post(SMPOS.Echo("hi")) }
      // The erase occupies two of the four buffers, for its request and its response.
      _ = try await host.answer(to: SMPImage.Erase.self)
      for _ in 0..<2 { #expect(try await host.answer(to: SMPOS.Echo.self).get().text == "hi") }
      // The other requests have no answer, so the next answer belongs to the next request.
      #expect(try await host.call(SMPOS.Echo("there")).get().text == "there")
    }
  }

  /// The server has one buffer for reassembly, so it treats a write between fragments as a
  /// fragment.
  @Test func aWriteBetweenFragmentsSpoilsTheMessage() throws {
    try withServer { (host, _, _) async throws in
      // The writes contain the first 9 of 28 bytes, then a complete echo of 14 bytes, then the
      // remaining 5 bytes.
      try await host.send(hex("0a 00 00 14 00 00 42 00 a1"))
      try await host.post(SMPOS.Echo("hi"))
      try await host.send([1, 2, 3, 4, 5])
      #expect(text(try await host.next()) == "0b 00 00 05 00 00 42 00 a1 62 72 63 03")
    }
  }

  @Test func aMessageThatIsTooLongForTheBufferIsDropped() throws {
    try withServer("&netbufs=4x64", mtu: 498) { (host, _, _) async throws in
      try await host.post(SMPOS.Echo(String(repeating: "x", count: 60)))
      #expect(try await host.call(SMPOS.Echo("hi")).get().text == "hi")
      // The response does not fit: too big.
      #expect(
        try await host.call(SMPImage.ReadState()) == .failure(SMPRefusal(.general(7))))
    }
  }

  @Test func aLostLinkDropsAnIncompleteMessage() throws {
    try withServer { (host, board, _) async throws in
      try await host.send(hex("0a 00 00 20 00 00 42 00 a1"))
      host.host.link.close()
      host = try await SMPHost.connected(to: board)
      #expect(try await host.call(SMPOS.Echo("hi")).get().text == "hi")
    }
  }

  /// The next host must receive no answer to a request of the previous host.
  @Test func anAnswerBelongsToItsConnection() throws {
    try withServer("&erase=400ms") { host, board, clock in
      _ = try await host.upload(Self.file.bytes, to: 400)
      try await host.post(SMPImage.Erase())
      try await host.post(SMPOS.Echo("lost"))
      await clock.pause(for: .milliseconds(100))
      host.host.link.close()
      host = try await SMPHost.connected(to: board)
      await clock.pause(for: .seconds(8))
      #expect(try await host.call(SMPOS.Echo("hi")).get().text == "hi")
    }
  }

  // MARK: Uploads

  @Test func anUploadIsAnsweredWithTheNextOffset() throws {
    try withServer { (host, _, _) async throws in
      let data = Array(Self.file.bytes.prefix(400))
      try await host.post(
        SMPImage.Upload(offset: 0, data: data, announcement: SMPHost.announce(Self.file.bytes)))
      #expect(
        text(try await host.next()) == "0b 00 00 08 00 01 01 01 a1 63 6f 66 66 19 01 90")
    }
  }

  @Test(arguments: ["", "&progressive=yes", "&loss=5%", "&erase=0&write=0"])
  func anImageIsReceived(settings: String) throws {
    try withServer(settings) { (host, _, _) async throws in
      let end = try await host.upload(Self.file.bytes)
      #expect(end == SMPImage.Upload.Response(offset: Self.file.bytes.count, matches: true))
      #expect(try await host.state() == ["0:1.2.0 bca", "1:1.3.0 b"])
    }
  }

  /// The erase covers 3 pages for 9,104 bytes, and the page of the bootloader's marks. With
  /// progressive erasing, the first chunk waits for the erase of one page.
  @Test func theFirstChunkWaitsForTheErase() throws {
    for (settings, limits) in [
      ("", Duration.milliseconds(4 * 85)..<Duration.milliseconds(600)),
      ("&progressive=yes", Duration.milliseconds(85)..<Duration.milliseconds(300)),
    ] {
      let took = try withServer(settings) { (host, _, clock) async throws in
        var other = Self.file
        other.body[0] ^= 1
        _ = try await host.upload(other.bytes, to: 400)
        let begun = clock.now
        _ = try await host.upload(Self.file.bytes, to: 400)
        return begun.duration(to: clock.now)
      }
      #expect(limits.contains(took), "\(settings): \(took)")
    }
  }

  @Test func anotherOffsetIsAnsweredWithTheExpectedOffset() throws {
    try withServer { (host, _, _) async throws in
      #expect(
        try await host.call(SMPImage.Upload(offset: 800, data: [1, 2, 3])).get().offset == 0)
      _ = try await host.upload(Self.file.bytes, to: 1200)
      for offset in [400, 1600] {
        let answer = try await host.call(
          SMPImage.Upload(offset: offset, data: [UInt8](repeating: 7, count: 100)))
        #expect(try answer.get().offset == 1200)
      }
      #expect(try await host.upload(Self.file.bytes, from: 1200).matches == true)
    }
  }

  @Test func theSameImageResumesAndAnotherStartsOver() throws {
    try withServer { (host, board, _) async throws in
      _ = try await host.upload(Self.file.bytes, to: 1200)
      host.host.link.close()
      host = try await SMPHost.connected(to: board)
      #expect(try await host.upload(Self.file.bytes, to: 400).offset == 1200)
      var other = Self.file
      other.body[0] ^= 1
      #expect(try await host.upload(other.bytes, to: 400).offset == 400)
    }
  }

  @Test func aResetDiscardsTheOffset() throws {
    try withServer { (host, board, _) async throws in
      _ = try await host.upload(Self.file.bytes, to: 1200)
      board.powerCut()
      await host.host.waitForEnd()
      host = try await SMPHost.connected(to: board)
      #expect(
        try await host.call(SMPImage.Upload(offset: 1200, data: [1])).get().offset == 0)
      #expect(try await host.upload(Self.file.bytes, to: 400).offset == 400)
    }
  }

  @Test func anImageInTheSlotIsRecognized() throws {
    for (settings, answer) in [
      ("", SMPImage.Upload.Response(offset: Self.file.bytes.count, matches: true)),
      ("&check=no", SMPImage.Upload.Response(offset: 400)),
    ] {
      try withServer(settings) { (host, _, _) async throws in
        let end = try await host.upload(Self.file.bytes)
        #expect(end.matches == (settings.isEmpty ? true : nil))
        #expect(try await host.upload(Self.file.bytes, to: 400) == answer)
      }
    }
  }

  @Test func anImageChangedInTransitDoesNotMatch() throws {
    try withServer { (host, _, _) async throws in
      var damaged = Self.file.bytes
      damaged[5000] ^= 1
      _ = try await host.upload(Self.file.bytes, to: 400)
      #expect(try await host.upload(damaged, from: 400).matches == false)
    }
  }

  struct Refused: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let code: Int32
    var file = BootableFile()
    var data: [UInt8]?
    var change: @Sendable (inout SMPImage.Upload.Announcement) -> Void = { _ in }
  }

  @Test(arguments: [
    Refused(testDescription: "31 bytes", code: 22, data: Array(file.bytes.prefix(31))),
    Refused(testDescription: "no header", code: 23, data: [UInt8](repeating: 0, count: 100)),
    Refused(testDescription: "long hash", code: 24) { $0.sha = [UInt8](repeating: 0, count: 33) },
    Refused(testDescription: "another image", code: 9) { $0.image = 1 },
    Refused(testDescription: "too large", code: 30) { $0.size = 61_441 },
    Refused(testDescription: "more than announced", code: 31) { $0.size = 300 },
    Refused(testDescription: "not an upgrade", code: 27, file: BootableFile(version: (1, 2, 0))) {
      $0.isUpgradeOnly = true
    },
    Refused(
      testDescription: "another address", code: 25,
      file: BootableFile(flags: 0x100, loadAddress: 0x1000)),
  ])
  func aFirstChunkIsRefused(example: Refused) throws {
    try withServer { (host, board, _) async throws in
      let bytes = example.file.bytes
      var announcement = SMPHost.announce(bytes)
      example.change(&announcement)
      let upload = SMPImage.Upload(
        offset: 0, data: example.data ?? Array(bytes.prefix(400)), announcement: announcement)
      #expect(try await host.call(upload) == .failure(SMPRefusal(.group(.image, example.code))))
      #expect(board.counters.flashOperations == 0)
    }
  }

  @Test func theFirstChunkAnnouncesTheSize() throws {
    try withServer { (host, _, _) async throws in
      let upload = SMPImage.Upload(offset: 0, data: Array(Self.file.bytes.prefix(400)))
      #expect(try await host.call(upload) == .failure(SMPRefusal(.group(.image, 21))))
    }
  }

  @Test func dataBeyondTheAnnouncedSizeIsRefused() throws {
    try withServer { (host, _, _) async throws in
      let size = Self.file.bytes.count
      _ = try await host.upload(Self.file.bytes, to: size - 10)
      let upload = SMPImage.Upload(offset: size - 10, data: [UInt8](repeating: 0, count: 11))
      #expect(try await host.call(upload) == .failure(SMPRefusal(.group(.image, 31))))
    }
  }

  @Test func anErasedSlotIsEmpty() throws {
    try withServer { (host, _, _) async throws in
      _ = try await host.upload(Self.file.bytes)
      #expect(
        try await host.call(SMPImage.Erase(slot: 0)) == .failure(SMPRefusal(.group(.image, 9))))
      #expect(
        try await host.call(SMPImage.Erase(slot: 2)) == .failure(SMPRefusal(.group(.image, 14))))
      #expect(try await host.call(SMPImage.Erase()) == .success(SMPDone()))
      #expect(try await host.state() == ["0:1.2.0 bca"])
    }
  }

  @Test func slotsReportTheirSizes() throws {
    try withServer { (host, _, _) async throws in
      let images = try await host.call(SMPImage.SlotInfo()).get().images
      #expect(images.map(\.largestImage) == [61_440])
      #expect(images[0].slots.map(\.size) == [65_536, 65_536])
      #expect(images[0].slots.map(\.uploadImage) == [nil, 0])
    }
  }
}
