import Crypto
import OtaflashFirmware
import OtaflashGATT
import OtaflashSimulation
import OtaflashWire
import Testing

@testable import OtaflashUpdate

/// Tests of complete updates of a small server in virtual time.
@Suite struct SMPSessionTests {
  static let old = bootableBytes(MCUbootVersion(1, 0, 0), seed: 9)

  static func server(
    _ adjust: (inout FakeServer.Settings) -> Void = { _ in }
  ) -> FakeServer {
    var settings = FakeServer.Settings()
    adjust(&settings)
    return FakeServer(running: old, settings)
  }

  static func image(_ version: MCUbootVersion = MCUbootVersion(1, 1, 0)) throws
    -> FirmwareImage
  {
    try bootable(version)
  }

  /// Expects that the update ended with the new image running, read back and confirmed.
  func expectFlashed(
    _ result: SMPBenchResult, _ server: FakeServer, _ image: FirmwareImage,
    sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    let update = try result.outcome.get()
    #expect(update.outcome == .flashed, sourceLocation: sourceLocation)
    #expect(update.proof == .readBack, sourceLocation: sourceLocation)
    #expect(server.runningImage == image.bytes, sourceLocation: sourceLocation)
    #expect(server.state.confirmed, sourceLocation: sourceLocation)
  }

  @Test(
    "an image is sent, put on trial, read back and confirmed in every mode that permits it",
    arguments: [
      MCUbootMode.unknown, .swapUsingScratch, .overwriteOnly, .swapWithoutScratch, .directXIP,
      .directXIPWithRevert, .ramLoad,
    ])
  func modes(mode: MCUbootMode) throws {
    let server = Self.server { $0.mode = mode }
    let image = try Self.image()
    let result = try update(server, to: image)
    try expectFlashed(result, server, image)
    let confirms = result.events.contains(.stageBegan(.confirm))
    #expect(confirms == mode.reverts)
    let tests = server.state.commands.contains(SMPImage.WriteState.command)
    #expect(tests == mode.needsTest)
  }

  @Test("a server with only the image group is also updated, with one request per write")
  func bareServer() throws {
    let server = Self.server { settings in
      settings.bufferSize = nil
      settings.mode = nil
      settings.slotSize = nil
    }
    let image = try Self.image()
    let result = try update(server, to: image)
    try expectFlashed(result, server, image)
    #expect(!server.state.commands.contains(SMPOS.Echo.command))
  }

  @Test("a server that ignores unknown commands is updated after a short wait")
  func silentServer() throws {
    let server = Self.server {
      $0.silent = [
        SMPOS.Parameters.command, SMPOS.BootloaderInfo.command, SMPImage.SlotInfo.command,
      ]
    }
    let image = try Self.image()
    let result = try update(server, to: image)
    try expectFlashed(result, server, image)
    #expect(result.elapsed < .seconds(40))
  }

  @Test("requests are longer than one write only if the server reassembles them")
  func reassembly() throws {
    for reassembles in [true, false] {
      let server = Self.server { settings in
        settings.bufferSize = 1_200
        settings.reassembles = reassembles
      }
      let image = try Self.image()
      let result = try update(server, to: image) { $0.mtu = 247 }
      try expectFlashed(result, server, image)
      #expect(server.state.longestWrite <= 244)
      // 5,072 bytes fit in fewer than 8 requests only if requests are longer than 244 bytes.
      #expect((server.state.uploadRequests < 8) == reassembles)
    }
  }

  @Test("one of the server's buffers stays free", arguments: [(1, 1), (2, 1), (4, 3), (40, 6)])
  func window(buffers: Int, width: Int) {
    var facts = SMPBuffers()
    facts.parameters = SMPOS.Parameters.Response(bufferSize: 400, bufferCount: buffers)
    #expect(facts.widthLimit == width)
    facts.parameters = nil
    #expect(facts.widthLimit == 1)
  }

  // MARK: Losses

  @Test("a lost request is detected and sent again", arguments: 1...14)
  func lostRequest(number: Int) throws {
    let server = Self.server { settings in
      settings.bufferSize = 400
      settings.lostRequests = [number]
    }
    let image = try Self.image()
    let result = try update(server, to: image)
    try expectFlashed(result, server, image)
    #expect(number == 1 || result.rewinds == 1)
  }

  @Test("a lost response is compensated", arguments: 1...13)
  func lostAnswer(number: Int) throws {
    let server = Self.server { settings in
      settings.bufferSize = 400
      settings.lostAnswers = [number]
    }
    let image = try Self.image()
    try expectFlashed(try update(server, to: image), server, image)
  }

  @Test("a server that stops accepting data ends the upload in bounded time")
  func deadServer() throws {
    let server = Self.server { $0.lostRequests = Set(4...1_000) }
    let result = try update(server, to: try Self.image())
    guard case .failure(.stalled(let offset, _, _)) = result.outcome else {
      throw Mismatch(result.outcome)
    }
    #expect(offset > 0 && result.elapsed < .seconds(200))
    #expect(server.runningImage == Self.old)
  }

  @Test(
    "a server that accepts only complete flash words receives complete words",
    arguments: [2, 4, 8, 16, 32, 64, 128], [false, true])
  func flashWords(unit: Int, reassembles: Bool) throws {
    let server = Self.server { settings in
      settings.writeUnit = unit
      settings.reassembles = reassembles
    }
    let image = try bootable(MCUbootVersion(1, 1, 0), size: 30_001)
    let result = try update(server, to: image)
    try expectFlashed(result, server, image)
    #expect(result.rewinds == 0)
    #expect(result.beginnings == [0])
    #expect(try result.outcome.get().resumes == 0)
  }

  @Test("the same applies after a lost link, and with a small limit")
  func flashWordsResumed() throws {
    for chunk in [nil, 20, 4] as [Int?] {
      let server = Self.server { settings in
        settings.writeUnit = 8
        settings.bufferSize = 400
        settings.linkEndsAfter = 8
      }
      let image = try Self.image()
      let result = try update(server, to: image) { $0.chunk = chunk }
      try expectFlashed(result, server, image)
      #expect(result.rewinds == 0)
      #expect(try result.outcome.get().resumes == 1)
    }
  }

  @Test("after a lost link, the upload resumes at the server's offset")
  func resume() throws {
    let server = Self.server { settings in
      settings.bufferSize = 400
      settings.linkEndsAfter = 8
    }
    let image = try Self.image()
    let result = try update(server, to: image)
    try expectFlashed(result, server, image)
    #expect(result.beginnings.count == 2)
    #expect(result.beginnings.first == 0 && (result.beginnings.last ?? 0) > 1_500)
    #expect(try result.outcome.get().resumes == 1)
  }

  @Test("a server that lost the upload receives it from the start, with a new announcement")
  func forgotten() throws {
    let server = Self.server { settings in
      settings.bufferSize = 400
      settings.forgetsAfter = 8
    }
    let image = try Self.image()
    let result = try update(server, to: image)
    try expectFlashed(result, server, image)
    #expect(result.events.contains(.rewound(to: 0, because: .gap)))
  }

  @Test("the host waits for a busy server")
  func busy() throws {
    let server = Self.server { $0.busyAnswers = 9 }
    let image = try Self.image()
    try expectFlashed(try update(server, to: image), server, image)
  }

  @Test("the wait for a busy server ends after the limit")
  func busyForEver() throws {
    let server = Self.server { $0.busyAnswers = .max }
    let result = try update(server, to: try Self.image()) { $0.busyLimit = .seconds(5) }
    guard case .failure(.declined(.prepare, let refusal)) = result.outcome else {
      throw Mismatch(result.outcome)
    }
    #expect(refusal.code == "rc 10" && result.elapsed < .seconds(10))
  }

  @Test("the wait for a server that becomes busy during the upload ends in time")
  func busyFromTheMiddleOn() throws {
    let server = Self.server { $0.busyFrom = 5 }
    let result = try update(server, to: try Self.image())
    guard case .failure(.stalled(let offset, _, _)) = result.outcome else {
      throw Mismatch(result.outcome)
    }
    #expect(offset > 0 && result.elapsed < .seconds(40))
  }

  // MARK: Damage

  @Test("an image that arrived damaged is erased and sent again")
  func damaged() throws {
    let server = Self.server { $0.damagedUploads = 1 }
    let image = try Self.image()
    let result = try update(server, to: image)
    try expectFlashed(result, server, image)
    #expect(server.state.erases == 1)
    #expect(result.events.contains(.rewound(to: 0, because: .blockChecksum)))
  }

  @Test("an image that arrives damaged twice is never started")
  func damagedTwice() throws {
    let server = Self.server { $0.damagedUploads = 5 }
    let result = try update(server, to: try Self.image())
    #expect(result.outcome == .failure(.declined(.upload, .differs)))
    #expect(server.runningImage == Self.old && server.state.pending == nil)
  }

  @Test("a restart erases the slot, even if the server remembers the erased upload")
  func restart() throws {
    let image = try Self.image()
    for (remembers, unit, after) in [(false, 1, 8), (true, 1, 8), (true, 8, 8), (true, 8, 2)] {
      let server = Self.server { settings in
        settings.bufferSize = 400
        settings.writeUnit = unit
        settings.linkEndsAfter = after
        settings.remembersErased = remembers
      }
      let cut = try update(server, to: image) { $0.reconnection = .none }
      guard case .failure(.linkLost) = cut.outcome else { throw Mismatch(cut.outcome) }
      let result = try update(server, to: image) { $0.startsOver = true }
      try expectFlashed(result, server, image)
      #expect(result.beginnings == [0])
      #expect(server.state.erases == 1)
    }
  }

  // MARK: The truth

  @Test("a reverted image is not a success")
  func reverted() throws {
    let server = Self.server { $0.goesBack = true }
    let result = try update(server, to: try Self.image())
    #expect(result.outcome == .failure(.reverted(running: FirmwareVersion(1, 0, 0))))
  }

  @Test(
    "an image that the bootloader refused is not a success",
    arguments: [MCUbootMode.swapUsingScratch, .overwriteOnly])
  func refused(mode: MCUbootMode) throws {
    let server = Self.server { settings in
      settings.mode = mode
      settings.refusesImage = true
    }
    let result = try update(server, to: try Self.image())
    #expect(result.outcome == .failure(.reverted(running: FirmwareVersion(1, 0, 0))))
  }

  @Test("without hashes, the version is the evidence, and the proof states it")
  func withoutHashes() throws {
    let server = Self.server { settings in
      settings.tellsHashes = false
      settings.mode = .directXIP
    }
    let image = try Self.image()
    let result = try update(server, to: image)
    #expect(try result.outcome.get().proof == .version)
    #expect(server.runningImage == image.bytes)
  }

  @Test("an image that already runs on trial is confirmed, and the result states it")
  func confirmsTrial() throws {
    let server = Self.server()
    server.leave(isPending: false)
    let result = try update(server, to: try bootable(MCUbootVersion(1, 0, 0), seed: 9))
    #expect(try result.outcome.get().confirmedTrial)
    #expect(server.state.confirmed)
  }

  @Test("a stall reports the time that passed, and the length of the unanswered requests")
  func stallTime() throws {
    let server = Self.server { $0.lostRequests = Set(3...100) }
    let result = try update(server, to: try Self.image())
    guard case .failure(.stalled(_, let waited, let size)) = result.outcome else {
      throw Mismatch(result.outcome)
    }
    #expect(waited > .seconds(100), "six waits of 5 s to 40 s")
    #expect(size != nil)
  }

  @Test("a running image is not sent")
  func alreadyCurrent() throws {
    let server = Self.server()
    let image = try bootable(MCUbootVersion(1, 0, 0), seed: 9)
    let result = try update(server, to: image)
    #expect(try result.outcome.get().outcome == .alreadyCurrent)
    #expect(server.state.uploadRequests == 0)
  }

  @Test("a complete image in a slot is activated without another upload")
  func alreadyThere() throws {
    let image = try Self.image()
    let server = Self.server { $0.refusals = [SMPOS.Reset.command: SMPRefusal(.general(6))] }
    let first = try update(server, to: image)
    guard case .failure(.declined(.activate, let refusal)) = first.outcome else {
      throw Mismatch(first.outcome)
    }
    #expect(refusal.code == "rc 6")
    let sent = server.state.uploadRequests
    let second = try update(server, to: image)
    #expect(second.beginnings == [image.bytes.count])
    #expect(server.state.uploadRequests == sent)
  }

  @Test("a complete image in a slot does not count as a resume")
  func heldWhole() throws {
    let image = try Self.image()
    let server = Self.server()
    server.place(image.bytes)
    let result = try update(server, to: image)
    try expectFlashed(result, server, image)
    #expect(server.state.uploadRequests == 0)
    #expect(try result.outcome.get().resumes == 0)
  }
}
