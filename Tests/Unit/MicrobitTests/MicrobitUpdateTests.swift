import OtaflashATT
import OtaflashFirmware
import OtaflashGATT
import OtaflashSimulation
import Testing

@testable import OtaflashUpdate

/// Tests of complete updates of a simulated micro:bit.
@Suite struct MicrobitUpdateTests {
  @Test(arguments: [
    "microbit", "microbit-v1", "calliope", "microbit?mtu=23", "microbit?interval=7.5ms",
    "microbit?interval=100ms", "microbit?security=encrypted", "microbit?response=next",
    "microbit?loss=3%",
  ])
  func aProgramOfMakeCodeIsReplacedAndVerified(_ device: String) throws {
    let image = try program(10_000, for: device)
    let outcome = try flash(image, onto: device)
    let result = try outcome.result.get()
    #expect(result.outcome == .flashed && result.proof == .readBack)
    #expect(outcome.runningImage == image.bytes)
    #expect(outcome.flashFaults.isEmpty)
    #expect(outcome.log.rewinds == 0)
  }

  /// MicroPython states no hash of its file system, so only the restart is known.
  @Test func aFileSystemOfMicroPythonIsReplaced() throws {
    let image = try program(9000, for: "microbit?editor=python")
    let outcome = try flash(image, onto: "microbit?editor=python")
    let result = try outcome.result.get()
    #expect(result.outcome == .restarted && result.proof == .restarted && !result.isVerified)
    #expect(outcome.runningImage == image.bytes)
    #expect(outcome.flashFaults.isEmpty)
  }

  @Test(arguments: ["microbit", "microbit-v1"])
  func aUniversalHexContainsTheProgramOfEachBoard(_ device: String) throws {
    let image = try FirmwareImage.decode(
      name: "program.hex",
      bytes: SampleImage.universalHex([UInt8](repeating: 0x11, count: 3000)))
    let content = try #require(image.microbit)
    #expect(content.programs.map(\.board) == [.v1, .v2])
    let outcome = try flash(image, onto: device)
    #expect(try outcome.result.get().proof == .readBack)
    let board: MicrobitBoard = device == "microbit" ? .v2 : .v1
    #expect(outcome.runningImage == content.program(for: board)?.application)
  }

  /// The device leaves its program first, and only the script is sent.
  @Test func onlyTheScriptIsSent() throws {
    let outcome = try flash(try program(1000), onto: "microbit")
    let blocks = (1000 + 32 + 64) / 64
    #expect(outcome.log.packets.count == 4 * blocks)
    #expect(try outcome.result.get().bytesSent == 64 * blocks)
    let restarts = outcome.log.commands.filter { $0[0] == 0xFF || $0[0] == 0x02 }
    #expect(restarts == [[0xFF, 0], [2]])
  }

  /// A device whose program does not use Bluetooth was put into pairing mode by its user, and does
  /// not advertise afterwards, so the update is not reported as verified.
  @Test(arguments: ["microbit", "microbit-v1"])
  func aProgramWithoutBluetoothHasOnlyRestarted(_ device: String) throws {
    let image = try program(3000, for: device)
    let outcome = try flash(image, onto: device + "?bluetooth=no")
    let result = try outcome.result.get()
    #expect(result.outcome == .restarted && !result.isVerified)
    #expect(outcome.runningImage == image.bytes)
    #expect(!outcome.log.commands.contains([0xFF, 0]))
  }

  // MARK: The comparison

  @Test func theRunningProgramIsNotSentAgain() throws {
    let image = try program(3000)
    let timeline = VirtualTimeline()
    let board = try SimulatedBoard(
      profile: try SimulationProfile(parsing: "sim:microbit"), clock: timeline.clock)
    let outcomes = try timeline.run(limit: .seconds(600)) { clock -> [UpdateResult.Outcome?] in
      await withTaskGroup(of: Void.self) { group in
        group.addTask { await board.run() }
        defer { group.cancelAll() }
        var found: [UpdateResult.Outcome?] = []
        for isForced in [false, false, true] {
          var options = UpdateOptions()
          options.sendsAnyway = isForced
          let update = FirmwareUpdate(image: image, options: options)
          found.append(try? await update.run(on: board.dialer, clock: clock).outcome)
        }
        return found
      }
    }
    #expect(outcomes == [.flashed, .alreadyCurrent, .flashed])
  }

  @Test func anotherRuntimeIsRefusedBeforeAByteIsWritten() throws {
    let outcome = try flash(
      try program(3000, for: "microbit-v1"), onto: "microbit-v1?runtime=other"
    ) { $0.updateProtocol = .microbit }
    let refusal = try #require(outcome.refusal)
    #expect(refusal.code == "runtime" && refusal.kind == .unsuitable && refusal.remedy != nil)
    #expect(outcome.log.packets.isEmpty && !outcome.log.commands.contains([0xFF, 0]))
  }

  @Test func theProgramOfAnotherBoardIsRefused() throws {
    let outcome = try flash(try program(3000, for: "microbit-v1"), onto: "microbit")
    #expect(outcome.refusal?.code == "board" && outcome.refusal?.kind == .wrongHardware)
    #expect(outcome.log.packets.isEmpty)
  }

  @Test func aScriptThatIsTooLargeIsRefused() throws {
    let outcome = try flash(try program(40_000), onto: "microbit?slot=64K")
    guard case .failure(.doesNotFit(_, slotSize: 32 * 1024)) = outcome.result else {
      Issue.record("\(outcome.result)")
      return
    }
    #expect(outcome.log.packets.isEmpty)
  }

  @Test func otherImagesAreNotTaken() throws {
    let plain = try FirmwareImage.decode(name: "a.bin", bytes: [UInt8](repeating: 7, count: 4000))
    let outcome = try flash(plain, onto: "microbit")
    guard case .failure(.imageNotTaken(let protocols)) = outcome.result else {
      Issue.record("\(outcome.result)")
      return
    }
    #expect(protocols.contains(.microbit))
  }

  // MARK: After the restart

  @Test func anotherProgramAfterTheRestartIsDetected() throws {
    let outcome = try flash(try program(3000), onto: "microbit?other-image")
    #expect(outcome.refusal?.code == "program")
  }

  @Test func aDeviceThatStaysAwayIsReported() throws {
    let outcome = try flash(try program(3000), onto: "microbit?never-returns")
    guard case .failure(.unreachableAfterActivation) = outcome.result else {
      Issue.record("\(outcome.result)")
      return
    }
  }

  @Test func anInspectionChoosesPartialFlashing() throws {
    let choice = ProtocolChoice(protocols: UpdateProtocol.all)
    let candidates = try choice.choose(
      for: [], among: [SecureDFUSession.self, MicrobitSession.self], asked: nil)
    #expect(candidates.first.updateProtocol == .microbit)
  }
}
