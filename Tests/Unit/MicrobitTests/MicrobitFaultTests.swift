import OtaflashFirmware
import OtaflashGATT
import OtaflashSimulation
import Testing

@testable import OtaflashUpdate

/// Tests of lost links and of lost, repeated and late packets. A run must end with the new program
/// or with a clear error, and must not report a program as verified that does not run.
@Suite struct MicrobitFaultTests {
  /// Whether the outcome is consistent with the final state of the device.
  private static func isTrue(_ outcome: MicrobitOutcome, _ image: FirmwareImage) -> Bool {
    switch outcome.result {
    case .success(let result): !result.isVerified || outcome.runningImage == image.bytes
    case .failure: true
    }
  }

  @Test(arguments: ["microbit", "microbit-v1", "calliope", "microbit?editor=python"])
  func theLinkCanBeCutAtEachPDU(_ device: String) throws {
    let image = try program(200, for: device)
    let query = device.contains("?") ? "&" : "?"
    let device = device + query + "erase=5ms"
    let clean = try flash(image, onto: device)
    #expect(throws: Never.self) { try clean.result.get() }
    for pdu in 1...clean.counters.pdus {
      let outcome = try flash(image, onto: device + "&cut-at-pdu=\(pdu)")
      #expect(outcome.flashFaults.isEmpty, "cut at \(pdu)")
      guard case .success(let result) = outcome.result else {
        Issue.record("cut at \(pdu): \(outcome.result)")
        continue
      }
      #expect(result.proof == (device.contains("python") ? .restarted : .readBack), "\(pdu)")
      #expect(outcome.runningImage == image.bytes, "cut at \(pdu)")
    }
  }

  /// The hash of an interrupted program is in flash, but the device is in pairing mode.
  @Test(arguments: [100, 150, 200, 250])
  func theHashOfAnInterruptedTransferIsNotEvidence(_ pdu: Int) throws {
    let image = try program(3000)
    let timeline = VirtualTimeline()
    let board = try SimulatedBoard(
      profile: try SimulationProfile(parsing: "sim:microbit?cut-at-pdu=\(pdu)"),
      clock: timeline.clock)
    var options = UpdateOptions()
    options.reconnection = .none
    let first = FirmwareUpdate(image: image, options: options)
    let second = FirmwareUpdate(image: image)
    let results = try timeline.run(limit: .seconds(600)) {
      clock -> (isInterrupted: Bool, UpdateResult?) in
      await withTaskGroup(of: Void.self) { group in
        group.addTask { await board.run() }
        defer { group.cancelAll() }
        let isInterrupted = (try? await first.run(on: board.dialer, clock: clock)) == nil
        return (isInterrupted, try? await second.run(on: board.dialer, clock: clock))
      }
    }
    #expect(results.isInterrupted)
    #expect(results.1?.outcome == .flashed && results.1?.proof == .readBack)
    #expect(try board.runningImage() == image.bytes)
  }

  @Test(arguments: 1...30)
  func aResetInAnyFlashOperationIsRecovered(_ operation: Int) throws {
    let image = try program(900)
    for fault in ["", "&torn"] {
      let outcome = try flash(
        image, onto: "microbit?reset-at-flash-op=\(operation)" + fault)
      #expect(Self.isTrue(outcome, image), "\(operation)\(fault): \(outcome.result)")
    }
  }

  /// Each packet of the first blocks is lost once.
  @Test(arguments: Array(1...12), ["microbit", "microbit-v1"])
  func aLostPacketIsSentAgain(_ packet: Int, _ device: String) throws {
    let image = try program(900, for: device)
    let counter = Counter()
    let outcome = try flash(
      image, onto: device,
      interfering: { _, value in
        value[0] == 0x01 && counter.next() == packet ? [] : [value]
      })
    #expect(try outcome.result.get().proof == .readBack)
    #expect(outcome.runningImage == image.bytes && outcome.flashFaults.isEmpty)
    #expect(outcome.log.rewinds == 1)
  }

  /// A repeated packet is dropped by the device, which does not report it.
  @Test(arguments: Array(1...12))
  func aRepeatedPacketIsHarmless(_ packet: Int) throws {
    let image = try program(900)
    let counter = Counter()
    let outcome = try flash(
      image, onto: "microbit",
      interfering: { _, value in
        value[0] == 0x01 && counter.next() == packet ? [value, value] : [value]
      })
    #expect(try outcome.result.get().proof == .readBack)
    #expect(outcome.runningImage == image.bytes && outcome.log.rewinds == 0)
  }

  /// The packet numbers continue from 255 with 0, also after blocks that were sent again.
  @Test(arguments: [62, 63, 64, 65, 66])
  func numbersWrapAround(_ block: Int) throws {
    let image = try program(64 * 140)
    let counter = Counter()
    let outcome = try flash(
      image, onto: "microbit",
      interfering: { _, value in
        value[0] == 0x01 && counter.next() == 4 * block + 2 ? [] : [value]
      })
    #expect(try outcome.result.get().proof == .readBack)
    #expect(outcome.runningImage == image.bytes)
    #expect(outcome.log.rewinds == 1)
  }

  @Test func packetsThatAreAlwaysLostAreReported() throws {
    let outcome = try flash(
      try program(900), onto: "microbit",
      interfering: { _, value in value[0] == 0x01 && value[4] & 7 == 3 ? [] : [value] })
    guard case .failure(let fault) = outcome.result else {
      Issue.record("\(outcome.result)")
      return
    }
    #expect(!fault.explanation.isEmpty)
    switch fault {
    case .blockKeepsFailing, .stalled: break
    default: Issue.record("\(fault)")
    }
  }

  @Test func aLostEndIsRepeated() throws {
    let counter = Counter()
    let image = try program(900)
    let outcome = try flash(
      image, onto: "microbit",
      interfering: { _, value in value == [2] && counter.next() == 1 ? [] : [value] })
    #expect(try outcome.result.get().proof == .readBack)
    #expect(outcome.runningImage == image.bytes)
  }

  /// Packets are lost and repeated, and notifications are lost, at random.
  @Test(arguments: 1...60 as ClosedRange<UInt64>)
  func randomFaultsNeverLeadToAFalseClaim(_ seed: UInt64) throws {
    let device = ["microbit", "microbit-v1", "microbit?editor=python", "calliope"][Int(seed % 4)]
    let image = try program(1000 + Int(seed) * 40, for: device, seed: seed)
    let query = device.contains("?") ? "&" : "?"
    let outcome = try flash(
      image, onto: "\(device)\(query)seed=\(seed)&loss=2%&notification-loss=1%",
      interfering: { number, value in
        var random = SeededRandom(seed: seed &* 1000 &+ UInt64(number))
        switch Int.random(in: 0..<150, using: &random) {
        case 0: return []
        case 1: return [value, value]
        default: return [value]
        }
      })
    #expect(Self.isTrue(outcome, image), "seed \(seed): \(outcome.result)")
    #expect(outcome.flashFaults.isEmpty, "seed \(seed)")
    if case .success = outcome.result {
      #expect(outcome.runningImage == image.bytes, "seed \(seed)")
    }
  }

  @Test(arguments: ["silent", "nonsense", "busy-forever", "mtu-lie", "nonsense-pdus=20%"])
  func aFaultyDeviceEndsWithAnError(_ fault: String) throws {
    let image = try program(3000)
    let outcome = try flash(image, onto: "microbit?\(fault)")
    #expect(Self.isTrue(outcome, image), "\(outcome.result)")
    if case .failure(let error) = outcome.result { #expect(!error.explanation.isEmpty) }
  }

  /// The time limit of pairing mode ends while a script is sent. The device resets, and returns to
  /// pairing mode because the transfer is incomplete.
  @Test func theEndOfPairingModeIsReported() throws {
    let outcome = try flash(try program(3000), onto: "microbit?interval=100ms&pairing=4s")
    guard case .failure = outcome.result else {
      Issue.record("\(outcome.result)")
      return
    }
    #expect(outcome.flashFaults.isEmpty)
  }
}
