import OtaflashFirmware
import OtaflashGATT
import OtaflashSimulation
import Testing

@testable import OtaflashUpdate

/// Tests of lost links and of lost, repeated and damaged packets. A run must end with the new image
/// or with a clear error, and must not report an image as verified that does not run.
@Suite struct OADFaultTests {
  /// Whether the outcome is consistent with the final state of the device.
  private static func isTrue(_ outcome: OADOutcome, _ image: FirmwareImage) -> Bool {
    switch outcome.result {
    case .success(let result): !result.isVerified || outcome.runningImage == image.bytes
    case .failure: true
    }
  }

  @Test(arguments: [
    "ti-oad", "ti-oad?mtu=65", "ti-oad-mcuboot", "lego-oad", "ti-oad?drop=timeout",
    "ti-oad-mcuboot?drop=timeout",
  ])
  func theLinkCanBeCutAtEachPDU(_ device: String) throws {
    let image = try oad(3000, for: device)
    let device = device + (device.contains("?") ? "&" : "?") + "slot=16K"
    let clean = try flash(image, onto: "sim:\(device)")
    #expect(try clean.result.get().outcome == .flashed)
    for pdu in 1...clean.counters.pdus {
      let outcome = try flash(image, onto: "sim:\(device)&cut-at-pdu=\(pdu)")
      #expect(outcome.log.offsets.allSatisfy { $0 == 0 })
      guard case .success(let result) = outcome.result else {
        Issue.record("cut at \(pdu): \(outcome.result)")
        continue
      }
      #expect(result.proof == .version, "cut at \(pdu)")
      #expect(outcome.runningImage == image.bytes, "cut at \(pdu)")
    }
  }

  /// Without a version, an update after a lost link is not reported as verified.
  @Test func theLinkCanBeCutWithoutEvidence() throws {
    let image = try oad(3000)
    let device = "sim:ti-oad?reports-version=no&slot=16K"
    let clean = try flash(image, onto: device)
    for pdu in 1...clean.counters.pdus {
      let outcome = try flash(image, onto: "\(device)&cut-at-pdu=\(pdu)")
      guard case .success(let result) = outcome.result else {
        Issue.record("cut at \(pdu): \(outcome.result)")
        continue
      }
      #expect(result.outcome == .restarted && outcome.runningImage == image.bytes, "cut at \(pdu)")
    }
  }

  /// A lost link without another attempt: the error states that the transfer cannot be resumed.
  @Test func aLostLinkIsReportedWithoutResume() throws {
    let outcome = try flash(try oad(60_000), onto: "sim:ti-oad?cut-at-pdu=200") {
      $0.reconnection = .none
    }
    guard case .failure(.linkLost(_, .upload, resumable: false, let acknowledged)) = outcome.result
    else {
      Issue.record("\(outcome.result)")
      return
    }
    #expect(acknowledged > 5_000)
  }

  @Test(arguments: 1...30)
  func aResetInAnyFlashOperationLeavesAnImage(_ operation: Int) throws {
    for device in ["ti-oad", "ti-oad-mcuboot"] {
      let image = try oad(3000, for: device)
      for fault in ["", "&torn"] {
        let outcome = try flash(
          image, onto: "sim:\(device)?slot=16K&reset-at-flash-op=\(operation)" + fault)
        #expect(Self.isTrue(outcome, image), "\(device) \(operation)\(fault): \(outcome.result)")
        let isOld = outcome.runningImage != image.bytes
        #expect(!isOld || outcome.runningImage.count > 10_000, "\(device) \(operation)\(fault)")
      }
    }
  }

  // MARK: Memory of the device

  /// A device with little memory discards the transfer; the host determines the number of blocks
  /// that the device can hold.
  @Test(arguments: ["ti-oad", "ti-oad-mcuboot"], [1, 2, 3, 4, 8, 15])
  func aDeviceWithLittleMemoryIsUpdated(_ device: String, _ memory: Int) throws {
    let image = try oad(30_000, for: device)
    let outcome = try flash(image, onto: "sim:\(device)?memory=\(memory)")
    #expect(try outcome.result.get().proof == .version)
    #expect(outcome.runningImage == image.bytes)
    #expect(outcome.log.rewinds <= (memory == 15 ? 0 : 3), "\(outcome.log.rewinds) rewinds")
    if memory == 1 { #expect(outcome.log.rewinds > 0) }
  }

  @Test func theCallersWindowPreventsAnOverflow() throws {
    let outcome = try flash(try oad(30_000), onto: "sim:ti-oad?memory=2") { $0.windowLimit = 480 }
    #expect(try outcome.result.get().proof == .version && outcome.log.rewinds == 0)
  }

  // MARK: Packets

  /// One block is lost, repeated, or changed.
  @Test(arguments: ["ti-oad", "ti-oad-mcuboot"], ["lost", "twice", "short", "damaged"])
  func aFaultyBlockStartsOver(_ device: String, _ fault: String) throws {
    let image = try oad(20_000, for: device)
    let interfering: Interference = { number, value in
      guard number == 40 else { return [value] }
      switch fault {
      case "lost": return []
      case "twice": return [value, value]
      case "short": return [value.dropLast()]
      default: return [value.dropLast() + [value[value.count - 1] ^ 1]]
      }
    }
    let outcome = try flash(image, onto: "sim:\(device)", interfering: interfering)
    // The CRC32 is compared after the last block, or by MCUboot after the restart.
    if fault == "damaged" {
      guard case .failure(let error) = outcome.result else {
        Issue.record("\(outcome.result)")
        return
      }
      if device == "ti-oad" {
        guard case .declined(.upload, let refusal) = error else {
          Issue.record("\(error)")
          return
        }
        #expect(refusal.code == "TI OAD 1" && refusal.remedy == .tryAgain)
      } else {
        #expect(error.leavesOldVersion)
      }
      #expect(outcome.runningImage != image.bytes)
    } else {
      #expect(try outcome.result.get().proof == .version)
      #expect(outcome.runningImage == image.bytes && outcome.log.rewinds == 1)
    }
  }

  @Test func blocksThatAreAlwaysLostAreReported() throws {
    let outcome = try flash(
      try oad(20_000), onto: "sim:ti-oad",
      interfering: { _, value in value.count > 100 && value[0] == 9 ? [] : [value] })
    guard case .failure(.declined(.upload, let refusal)) = outcome.result else {
      Issue.record("\(outcome.result)")
      return
    }
    #expect(refusal.code == "TI OAD 3" && refusal.remedy == .tryAgain)
    #expect(outcome.log.rewinds == OADRetained.lossesMaximum)
  }

  /// A command of the host is lost once.
  @Test(arguments: ["ti-oad", "ti-oad-mcuboot"], [1, 3, 5, 7] as [UInt8])
  func aLostCommandIsRepeated(_ device: String, _ command: UInt8) throws {
    let image = try oad(5000, for: device)
    let isDropped = Counter()
    let outcome = try flash(
      image, onto: "sim:" + device,
      interfering: { _, value in
        value == [command] && isDropped.next() == 1 ? [] : [value]
      })
    #expect(try outcome.result.get().isVerified, "command \(command)")
    #expect(outcome.runningImage == image.bytes)
  }

  @Test func aLostActivationIsReported() throws {
    let outcome = try flash(
      try oad(3000), onto: "sim:ti-oad", interfering: { _, value in value == [4] ? [] : [value] })
    guard case .failure(.declined(.activate, let refusal)) = outcome.result else {
      Issue.record("\(outcome.result)")
      return
    }
    #expect(refusal.code == "no answer" && refusal.remedy == .restartDevice)
  }

  /// Notifications of the device are lost: later notifications replace them.
  @Test(arguments: ["ti-oad", "ti-oad-mcuboot"], 1...10 as ClosedRange<UInt64>)
  func lostNotificationsAreTolerated(_ device: String, _ seed: UInt64) throws {
    let image = try oad(20_000, for: device, seed: seed)
    let outcome = try flash(
      image, onto: "sim:\(device)?notification-loss=10%&seed=\(seed)")
    #expect(Self.isTrue(outcome, image), "\(outcome.result)")
    guard case .success = outcome.result else { return }
    #expect(outcome.runningImage == image.bytes)
  }

  /// Packets are lost, repeated, damaged and shortened at random. The device is then either updated
  /// or reported as failed.
  @Test(arguments: 1...60 as ClosedRange<UInt64>)
  func randomFaultsNeverLeadToAFalseClaim(_ seed: UInt64) throws {
    let device = ["ti-oad", "ti-oad?mtu=65", "ti-oad-mcuboot", "ti-oad?reports-version=no"][
      Int(seed % 4)]
    let image = try oad(4000 + Int(seed) * 16, for: device, seed: seed)
    let interfering: Interference = { number, value in
      var random = SeededRandom(seed: seed &* 1000 &+ UInt64(number))
      switch Int.random(in: 0..<200, using: &random) {
      case 0: return []
      case 1: return [value, value]
      case 2: return [value.dropLast() + [value[value.count - 1] ^ 0x40]]
      case 3: return [Array(value.dropLast())]
      default: return [value]
      }
    }
    let query = device.contains("?") ? "&" : "?"
    let outcome = try flash(
      image, onto: "sim:\(device)\(query)slot=16K&seed=\(seed)&loss=2%", interfering: interfering)
    #expect(Self.isTrue(outcome, image), "seed \(seed): \(outcome.result)")
    let old = outcome.runningImage != image.bytes
    if case .success(let result) = outcome.result, old { #expect(result.outcome == .restarted) }
  }

  /// A hostile device sends random PDUs, or does not answer.
  @Test(arguments: 1...20 as ClosedRange<UInt64>)
  func aHostileDeviceIsReported(_ seed: UInt64) throws {
    for fault in ["nonsense", "nonsense-pdus=20%", "silent"] {
      let outcome = try flash(
        try oad(3000), onto: "sim:ti-oad?\(fault)&seed=\(seed)&slot=16K"
      ) {
        $0.reconnection = .none
      }
      #expect(Self.isTrue(outcome, try oad(3000)), "\(fault)")
      if fault != "nonsense-pdus=20%" {
        #expect(throws: UpdateFault.self) { try outcome.result.get() }
      }
    }
  }
}
