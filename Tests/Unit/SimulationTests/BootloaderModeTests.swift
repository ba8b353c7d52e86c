import OtaflashATT
import OtaflashFirmware
import OtaflashGATT
import OtaflashSimulation
import OtaflashUpdate
import OtaflashWire
import Testing

/// Tests of MCUboot's handling of images that the SMP server received, for each mode.
@Suite struct BootloaderModeTests {
  static let file = BootableFile()

  private func withServer(
    _ settings: String,
    _ body: @escaping @Sendable (inout SMPHost, SimulatedBoard, VirtualClock) async throws -> Void
  ) throws {
    try withBoard("smp?slot=64K" + settings) { board, clock in
      var host = try await SMPHost.connected(to: board)
      try await body(&host, board, clock)
      #expect(board.flashFaults == [])
    }
  }

  // MARK: Swapping

  @Test(arguments: ["swap", "swap-scratch"])
  func aConfirmedImageStays(mode: String) throws {
    try withServer("&mode=\(mode)") { host, board, _ in
      _ = try await host.upload(Self.file.bytes)
      #expect(
        try await host.setState(Self.file.hash, confirm: false)
          == .success(["0:1.2.0 bca", "1:1.3.0 bp"]))
      try await host.reset()
      host = try await SMPHost.connected(to: board)
      #expect(try await host.state() == ["0:1.3.0 ba", "1:1.2.0 bc"])
      #expect(try board.runningImage() == Self.file.bytes)
      #expect(try await host.host.read(BluetoothUUID(0x2A26)) == Array("1.3.0".utf8))
      // The old image must not be erased while the new image is on trial.
      #expect(
        try await host.call(SMPImage.Erase()) == .failure(SMPRefusal(.group(.image, 9))))
      #expect(
        try await host.setState(nil, confirm: true)
          == .success(["0:1.3.0 bca", "1:1.2.0 b"]))
      try await host.reset()
      host = try await SMPHost.connected(to: board)
      #expect(try await host.state() == ["0:1.3.0 bca", "1:1.2.0 b"])
    }
  }

  @Test func anUnconfirmedImageIsReverted() throws {
    try withServer("") { host, board, _ in
      let factory = try board.runningImage()
      _ = try await host.upload(Self.file.bytes)
      _ = try await host.setState(Self.file.hash, confirm: false)
      try await host.reset()
      host = try await SMPHost.connected(to: board)
      #expect(try board.runningImage() == Self.file.bytes)
      board.powerCut()
      await host.host.waitForEnd()
      host = try await SMPHost.connected(to: board)
      #expect(try await host.state() == ["0:1.2.0 bca", "1:1.3.0 b"])
      #expect(try board.runningImage() == factory)
    }
  }

  @Test func aPermanentImageNeedsNoConfirmation() throws {
    try withServer("") { host, board, _ in
      _ = try await host.upload(Self.file.bytes)
      #expect(
        try await host.setState(Self.file.hash, confirm: true)
          == .success(["0:1.2.0 bca", "1:1.3.0 bpP"]))
      try await host.reset()
      host = try await SMPHost.connected(to: board)
      #expect(try await host.state() == ["0:1.3.0 bca", "1:1.2.0 b"])
    }
  }

  @Test func withoutARequestTheOldImageKeepsRunning() throws {
    try withServer("") { host, board, _ in
      _ = try await host.upload(Self.file.bytes)
      try await host.reset()
      host = try await SMPHost.connected(to: board)
      #expect(try await host.state() == ["0:1.2.0 bca", "1:1.3.0 b"])
    }
  }

  /// The hash in the TLVs does not match the image. Only the bootloader detects this, and erases
  /// the image.
  @Test func anImageWithAWrongHashNeverRuns() throws {
    try withServer("") { host, board, _ in
      let factory = try board.runningImage()
      var damaged = Self.file.bytes
      damaged[5000] ^= 1
      #expect(try await host.upload(damaged).matches == true)
      #expect(
        try await host.setState(Self.file.hash, confirm: false)
          == .success(["0:1.2.0 bca", "1:1.3.0 bp"]))
      try await host.reset()
      host = try await SMPHost.connected(to: board)
      #expect(try await host.state() == ["0:1.2.0 bca"])
      #expect(try board.runningImage() == factory)
    }
  }

  @Test func anImageThatIsNotBootableNeverRuns() throws {
    var file = BootableFile(flags: 0x10)
    file.body = makeImage(100)
    let image = file
    try withServer("") { host, board, _ in
      _ = try await host.upload(image.bytes)
      #expect(
        try await host.setState(image.hash, confirm: false)
          == .success(["0:1.2.0 bca", "1:1.3.0 p"]))
      try await host.reset()
      host = try await SMPHost.connected(to: board)
      #expect(try await host.state() == ["0:1.2.0 bca", "1:1.3.0 "])
    }
  }

  @Test func theNextImageIsCheckedBeforeTheMarkIsWritten() throws {
    try withServer("") { host, board, _ in
      _ = try await host.upload(Self.file.bytes)
      let running = try await host.call(SMPImage.ReadState()).get().slots[0].hash
      for (hash, confirm, code) in [
        (nil, false, 24), ([1, 2, 3], false, 24), ([UInt8](repeating: 0, count: 32), true, 8),
        (running, false, 33),
      ] as [([UInt8]?, Bool, Int32)] {
        #expect(
          try await host.setState(hash, confirm: confirm)
            == .failure(SMPRefusal(.group(.image, code))))
      }
      _ = try await host.setState(Self.file.hash, confirm: false)
      // The slot of a pending image is in use.
      let again = SMPImage.Upload(
        offset: 0, data: Array(Self.file.bytes.prefix(400)),
        announcement: SMPHost.announce(Self.file.bytes))
      #expect(try await host.call(again) == .failure(SMPRefusal(.group(.image, 9))))
      #expect(try await host.call(again, version: .v1) == .failure(SMPRefusal(.general(6))))
      #expect(
        try await host.setState(nil, confirm: true) == .success(["0:1.2.0 bca", "1:1.3.0 bp"]))
    }
  }

  @Test func movingThePagesTakesItsTime() throws {
    var times: [String: Duration] = [:]
    for mode in ["swap", "swap-scratch", "overwrite", "direct-xip"] {
      times[mode] = try withBoard("smp?slot=64K&mode=\(mode)&boot=0&drop=close") {
        board, clock in
        var host = try await SMPHost.connected(to: board)
        _ = try await host.upload(Self.file.bytes)
        _ = try await host.setState(Self.file.hash, confirm: false)
        try await host.reset()
        let begun = clock.now
        _ = try await board.dial(within: .seconds(60))
        return begun.duration(to: clock.now)
      }
    }
    // Depending on the mode, three pages are moved twice, three times, once, or never.
    let page = Duration.milliseconds(125)
    let expected = ["swap": 6, "swap-scratch": 9, "overwrite": 3, "direct-xip": 0]
    for (mode, moves) in expected {
      let time = try #require(times[mode])
      #expect(
        time > page * moves - .milliseconds(100) && time < page * moves + .milliseconds(900),
        "\(mode): \(time)")
    }
  }

  // MARK: Other modes

  @Test func anOverwrittenImageDoesNotComeBack() throws {
    try withServer("&mode=overwrite") { host, board, _ in
      _ = try await host.upload(Self.file.bytes)
      _ = try await host.setState(Self.file.hash, confirm: false)
      try await host.reset()
      host = try await SMPHost.connected(to: board)
      #expect(try await host.state().first == "0:1.3.0 bca")
      try await host.reset()
      host = try await SMPHost.connected(to: board)
      #expect(try await host.state().first == "0:1.3.0 bca")
    }
  }

  @Test func aBootloaderMayForbidDowngrades() throws {
    let old = BootableFile(version: (1, 1, 9))
    for (settings, line) in [("", "0:1.1.9 bca"), ("&no-downgrade=yes", "0:1.2.0 bca")] {
      try withServer("&mode=overwrite" + settings) { host, board, _ in
        _ = try await host.upload(old.bytes)
        _ = try await host.setState(old.hash, confirm: true)
        try await host.reset()
        host = try await SMPHost.connected(to: board)
        #expect(try await host.state().first == line)
      }
    }
  }

  @Test(arguments: ["direct-xip", "ram-load"])
  func theHigherVersionRunsInPlace(mode: String) throws {
    try withServer("&mode=\(mode)") { host, board, _ in
      _ = try await host.upload(Self.file.bytes)
      #expect(try await host.state() == ["0:1.2.0 bca", "1:1.3.0 bp"])
      try await host.reset()
      host = try await SMPHost.connected(to: board)
      #expect(try await host.state() == ["0:1.2.0 b", "1:1.3.0 bca"])
      #expect(try board.runningImage() == Self.file.bytes)
      // An image with a lower version is accepted but does not run.
      let old = BootableFile(version: (1, 1, 0))
      _ = try await host.upload(old.bytes)
      try await host.reset()
      host = try await SMPHost.connected(to: board)
      #expect(try await host.state() == ["0:1.1.0 b", "1:1.3.0 bca"])
    }
  }

  @Test func directXIPWithRevertRevertsAnUnconfirmedImage() throws {
    try withServer("&mode=direct-xip-revert") { host, board, _ in
      _ = try await host.upload(Self.file.bytes)
      _ = try await host.setState(Self.file.hash, confirm: false)
      try await host.reset()
      host = try await SMPHost.connected(to: board)
      #expect(try await host.state() == ["0:1.2.0 bc", "1:1.3.0 ba"])
      try await host.reset()
      host = try await SMPHost.connected(to: board)
      #expect(try await host.state() == ["0:1.2.0 bca", "1:1.3.0 b"])
    }
  }

  @Test(arguments: ["single"])
  func withOneSlotTheBootloaderReceivesTheImage(mode: String) throws {
    try withServer("&mode=\(mode)") { host, board, _ in
      let first = SMPImage.Upload(
        offset: 0, data: Array(Self.file.bytes.prefix(400)),
        announcement: SMPHost.announce(Self.file.bytes))
      #expect(try await host.call(first) == .failure(SMPRefusal(.group(.image, 9))))
      try await host.reset(bootMode: 1)
      host = try await SMPHost.connected(to: board)
      #expect(try await host.state() == ["0:1.2.0 bc"])
      _ = try await host.upload(Self.file.bytes, to: 4000)
      // An incomplete image cannot be started, so the bootloader keeps running.
      board.powerCut()
      await host.host.waitForEnd()
      host = try await SMPHost.connected(to: board)
      #expect(try await host.state() == [])
      #expect(try board.runningImage() == [])
      #expect(try await host.upload(Self.file.bytes).matches == true)
      try await host.reset()
      host = try await SMPHost.connected(to: board)
      #expect(try await host.state() == ["0:1.3.0 bca"])
      #expect(try board.runningImage() == Self.file.bytes)
    }
  }

  /// Nordic's single-slot loader: the application sets the loader's name, and lists one slot in
  /// addition to the loader's slot. The loader restarts at the end of a connection.
  @Test func theFirmwareLoaderIsNamedAndRestartsWithEachConnection() throws {
    try withServer("&mode=firmware-loader") { host, board, _ in
      #expect(try await host.state() == ["0:1.2.0 bca", "1:1.0.0 b"])
      func name(_ key: String, _ bytes: Int) -> SMPSettings.Write {
        SMPSettings.Write(name: key, value: [UInt8](repeating: 0x61, count: bytes))
      }
      let refused = try await host.call(name("fw_loader/adv_name", 16))
      #expect(refused.refusal == SMPRefusal(.general(3)))
      #expect(try await host.call(name("other", 4)).refusal == SMPRefusal(.general(5)))
      #expect(try await host.call(name("fw_loader/adv_name", 15)).refusal == nil)
      #expect(try await host.call(SMPSettings.Save()).refusal == nil)
      try await host.reset(bootMode: 1)
      host = SMPHost(try await BareHost.connected(to: board, at: board.address.flipped, mtu: 498))
      try await host.host.subscribe(SMPHost.characteristic)
      #expect(try await host.state() == ["0:1.2.0 bc", "1:1.0.0 ba"])
      #expect(try await host.call(SMPSettings.Save()).refusal == SMPRefusal(.general(8)))
      _ = try await host.upload(Self.file.bytes, to: 4000)
      host.host.link.close()
      host = try await SMPHost.connected(to: board)
      #expect(try await host.state() == ["1:1.0.0 ba"])
      #expect(try board.runningImage() == [])
      #expect(try await host.upload(Self.file.bytes).matches == true)
      try await host.reset()
      host = try await SMPHost.connected(to: board)
      #expect(try await host.state() == ["0:1.3.0 bca", "1:1.0.0 b"])
    }
  }

  // MARK: Faults

  @Test(arguments: ["reverts", "comes-back-old"])
  func theBootloaderMayRejectTheImage(fault: String) throws {
    try withServer("&\(fault)") { host, board, _ in
      _ = try await host.upload(Self.file.bytes)
      _ = try await host.setState(Self.file.hash, confirm: true)
      try await host.reset()
      host = try await SMPHost.connected(to: board)
      #expect(try await host.state() == ["0:1.2.0 bca", "1:1.3.0 b"])
    }
  }

  @Test(arguments: Array(1...26))
  func aResetInAnyFlashOperationLeavesOneOfTheTwoImages(operation: Int) throws {
    let file = BootableFile(body: makeImage(1000))
    try withBoard("smp?slot=16K&torn&reset-at-flash-op=\(operation)&seed=\(operation)") {
      board, _ in
      let factory = try board.runningImage()
      for _ in 0..<3 where try board.runningImage() != file.bytes {
        #expect(try board.runningImage() == factory)
        do {
          var host = try await SMPHost.connected(to: board)
          let state = try await host.state()
          if !state.contains("1:1.3.0 bp") {
            _ = try await host.upload(file.bytes)
            _ = try await host.setState(file.hash, confirm: false)
          }
          try await host.reset()
          host = try await SMPHost.connected(to: board)
          _ = try await host.setState(nil, confirm: true)
          host.host.link.close()
        } catch BareHost.Fault.linkLost {
          continue
        }
      }
      #expect(board.flashFaults == [])
      var host = try await SMPHost.connected(to: board)
      if try board.runningImage() == file.bytes {
        _ = try await host.setState(nil, confirm: true)
      }
      board.powerCut()
      await host.host.waitForEnd()
      host = try await SMPHost.connected(to: board)
      #expect(try board.runningImage() == file.bytes)
    }
  }
}

extension Result where Failure == SMPRefusal {
  fileprivate var refusal: SMPRefusal? {
    switch self {
    case .success: nil
    case .failure(let refusal): refusal
    }
  }
}

extension DeviceAddress {
  fileprivate var flipped: DeviceAddress { DeviceAddress(rawValue: rawValue ^ 1) }
}
