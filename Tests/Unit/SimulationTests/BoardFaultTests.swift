import OtaflashATT
import OtaflashFirmware
import OtaflashGATT
import OtaflashSimulation
import Testing

/// Tests that faults of the catalog behave as their descriptions state.
@Suite struct BoardFaultTests {
  static let newVersion = FirmwareVersion(1, 3, 0)
  static let image = makeImage(40_000)

  /// Flashes the image, and then reads the state of the running image: version, CRC32, boot
  /// outcome.
  private func outcome(of profile: String) throws -> (version: [UInt8], crc32: UInt32, boot: UInt8)
  {
    try withBoard(profile) { board, _ in
      var host = try await OTAHost.connected(to: board)
      try await host.flash(Self.image, version: Self.newVersion)
      host = try await OTAHost.connected(to: board)
      let running = try await host.operate(0x02)
      return (Array(running[0..<3]), littleEndian(running[8..<12]), running[12])
    }
  }

  @Test func theOldVersionRunsWithoutAReason() throws {
    let (version, _, boot) = try outcome(of: "comes-back-old")
    #expect(version == [1, 2, 0] && boot == 0)
  }

  @Test func theBootloaderRejectsAndReportsIt() throws {
    let (version, _, boot) = try outcome(of: "reverts")
    #expect(version == [1, 2, 0] && boot == 2)
  }

  @Test func anotherImageRuns() throws {
    let (version, crc32, boot) = try outcome(of: "other-image")
    #expect(version == [1, 3, 0] && boot == 1 && crc32 != CRC32.checksum(Self.image))
  }

  @Test func theDeviceNeverAdvertisesAgain() throws {
    try withBoard("never-returns") { board, clock in
      var host = try await OTAHost.connected(to: board)
      try await host.flash(Self.image, version: Self.newVersion)
      let start = clock.now
      await #expect(throws: ConnectFault.self) { _ = try await board.dial(within: .seconds(30)) }
      #expect(start.duration(to: clock.now) == .seconds(30))
    }
  }

  @Test func theAdapterVanishesDuringTheTransfer() throws {
    try withBoard("adapter-vanishes") { board, _ in
      var host = try await OTAHost.connected(to: board)
      let fault = await #expect(throws: OTAHost.Fault.self) {
        try await host.flash(Self.image, version: Self.newVersion)
      }
      guard case .linkLost(.failed(errno: 19, _))? = fault else {
        Issue.record("\(String(describing: fault))")
        return
      }
      let refusal = await #expect(throws: ConnectFault.self) { _ = try await board.dial() }
      guard case .adapterUnavailable? = refusal else {
        Issue.record("\(String(describing: refusal))")
        return
      }
    }
  }

  @Test func aSilentDeviceConnectsWithoutAnswers() throws {
    try withBoard("silent") { board, clock in
      let link = try await board.dial()
      try await link.send([0x02, 0xF7, 0x00])
      let loss = await withTaskGroup(of: LinkLoss?.self) { group in
        group.addTask { await lossOfReceive(link) }
        await clock.pause(for: .seconds(60))
        group.cancelAll()
        return await group.next()
      }
      #expect(loss == .some(.cancelled))
    }
  }

  @Test func longPDUsWithinTheMTUAreLost() throws {
    try withBoard("mtu-lie") { board, _ in
      var host = try await OTAHost.connected(to: board)
      #expect(host.mtu == 247)
      _ = try await host.begin(Self.image, version: Self.newVersion)
      let short = [UInt8](repeating: 0, count: 4) + Self.image[0..<93]
      try await host.link.send(
        ATTPDU.writeCommand(OTAHost.data, value: short + [0]).encoded)
      #expect(board.counters.dataWrites == 0)
      _ = try await host.request(.write(OTAHost.data, value: short))
      #expect(try await statusRead(&host).next == 93)
    }
  }

  @Test func theFlashStaysBusy() throws {
    try withBoard("busy-forever") { board, clock in
      var host = try await OTAHost.connected(to: board)
      _ = try await host.begin(Self.image, version: Self.newVersion)
      let status = try await sendUntilWindowIsClosed(&host)
      #expect(status.window < 240 && status.next < 40_000)
      await clock.pause(for: .seconds(600))
      #expect(try await statusRead(&host).durable == status.durable)
    }
  }

  @Test func aBadBlockEndsTheSessionAfterItsRetries() throws {
    try withBoard("bad-block") { board, _ in
      var host = try await OTAHost.connected(to: board)
      _ = try await host.begin(Self.image, version: Self.newVersion)
      // The sixth page fails the verification, and the device requests it again each time.
      for _ in 0..<1000 where !host.statuses.contains(where: { $0.error == 3 }) {
        let status = try await statusRead(&host)
        let count = min(240, Self.image.count - status.next)
        guard count > 0, status.window >= count else { continue }
        try await sendChunk(&host, at: status.next, count: count)
      }
      #expect(host.statuses.contains { $0.error == 3 && $0.state == 0 })
      #expect(board.flashFaults == [])
    }
  }

  @Test func oneChecksumIsWrong() throws {
    let wrong = try wrongChecksums("wrong-crc-once")
    #expect(wrong.filter { $0 }.count == 1 && wrong.count > 3)
  }

  @Test func everyChecksumIsWrong() throws {
    let wrong = try wrongChecksums("wrong-crc-always")
    #expect(wrong.allSatisfy { $0 } && wrong.count > 3)
  }

  private func wrongChecksums(_ profile: String) throws -> [Bool] {
    try withBoard(profile) { board, _ in
      var host = try await OTAHost.connected(to: board)
      let start = try await host.begin(Self.image, version: Self.newVersion)
      try await host.upload(Self.image, from: start)
      return host.statuses.filter { $0.next > 0 }
        .map { $0.crc32 != CRC32.checksum(Self.image[..<$0.next]) }
    }
  }

  @Test func theDeviceRepeatsOneOffset() throws {
    let offsets = try offsets("repeat-offset")
    #expect(Set(offsets.filter { $0 > 0 }).count == 1)
  }

  @Test func theDeviceJumpsBackOnce() throws {
    let offsets = try offsets("jump-back")
    let jumps = zip(offsets, offsets.dropFirst()).filter { $0 > $1 }
    #expect(jumps.count == 1 && jumps.first?.1 == 0)
  }

  @Test func theDeviceRequestsMoreThanTheImage() throws {
    #expect(try offsets("beyond-end").last == 41_000)
  }

  /// Returns the values of `next offset` that the device notifies during the transfer of the first
  /// 26,400 bytes of the image.
  private func offsets(_ profile: String) throws -> [Int] {
    try withBoard(profile) { board, clock in
      var host = try await OTAHost.connected(to: board)
      _ = try await host.begin(Self.image, version: Self.newVersion)
      for offset in stride(from: 0, to: 26_400, by: 240) {
        try await sendChunk(&host, at: offset, count: 240)
        await clock.pause(for: .milliseconds(20))
      }
      _ = try await statusRead(&host)
      return host.statuses.map(\.next)
    }
  }

  @Test func answersAreRandomBytes() throws {
    try withBoard("nonsense") { board, _ in
      var host = try await OTAHost.connected(to: board)
      await #expect(throws: OTAHost.Fault.self) { _ = try await host.operate(0x01, [1]) }
    }
  }

  @Test func notificationsAreLost() throws {
    func reports(_ profile: String) throws -> Int {
      try offsets(profile).count
    }
    let all = try reports("plain")
    let some = try reports("plain?notification-loss=50%")
    #expect(some > all / 4 && some < all * 3 / 4)
    #expect(try reports("plain?notification-loss=100%") == 0)
  }

  @Test(arguments: [50, 200, 333, 500, 777, 1000])
  func anUpdateSucceedsAfterAPowerCutAtAnyTime(milliseconds: Int) throws {
    try withBoard("plain?seed=\(milliseconds)") { board, clock in
      await withTaskGroup { group in
        group.addTask {
          await clock.pause(for: .milliseconds(milliseconds))
          board.powerCut()
        }
        for _ in 0..<3 {
          do {
            var host = try await OTAHost.connected(to: board)
            try await host.flash(Self.image, version: Self.newVersion)
            break
          } catch { continue }
        }
      }
      _ = try await OTAHost.connected(to: board)
      let running = try board.runningImage()
      #expect(running == Self.image)
      #expect(board.flashFaults == [] && board.counters.resets == 2)
    }
  }

  private func statusRead(_ host: inout OTAHost) async throws -> OTAHost.Status {
    guard case .read(let bytes) = try await host.request(.read(OTAHost.status)) else {
      throw OTAHost.Fault.refused(.unlikelyError)
    }
    return OTAHost.Status(bytes)
  }

  private func sendChunk(_ host: inout OTAHost, at offset: Int, count: Int) async throws {
    let prefix = (0..<4).map { UInt8(truncatingIfNeeded: offset >> (8 * $0)) }
    try await host.link.send(
      ATTPDU.writeCommand(OTAHost.data, value: prefix + Self.image[offset..<offset + count])
        .encoded)
  }

  /// Sends data in order until 100 consecutive reads of Status permit no write; returns the last
  /// Status.
  private func sendUntilWindowIsClosed(_ host: inout OTAHost) async throws -> OTAHost.Status {
    var quiet = 0
    while quiet < 100 {
      let status = try await statusRead(&host)
      let count = min(240, Self.image.count - status.next)
      if count > 0, status.window >= count {
        try await sendChunk(&host, at: status.next, count: count)
        quiet = 0
      } else {
        quiet += 1
      }
    }
    return try await statusRead(&host)
  }
}
