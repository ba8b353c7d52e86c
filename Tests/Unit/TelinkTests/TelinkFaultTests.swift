import OtaflashFirmware
import OtaflashGATT
import OtaflashSimulation
import Testing

@testable import OtaflashUpdate

/// Tests of lost links and of lost, repeated and damaged packets. A run must end with the new image
/// or with a clear error, and must not report an image as verified that does not run.
@Suite struct TelinkFaultTests {
  /// Whether the outcome is consistent with the final state of the device.
  private static func isTrue(_ outcome: TelinkOutcome, _ image: FirmwareImage) -> Bool {
    switch outcome.result {
    case .success(let result): !result.isVerified || outcome.runningImage == image.bytes
    case .failure: true
    }
  }

  @Test(arguments: ["telink", "telink?pdu=80", "telink-legacy"])
  func theLinkCanBeCutAtEachPDU(_ device: String) throws {
    let image = try telink(device == "telink-legacy" ? 900 : 3000)
    let device = device + (device.contains("?") ? "&" : "?") + "slot=16K"
    let clean = try flash(image, onto: "sim:\(device)")
    #expect(try clean.result.get().outcome == .flashed)
    for pdu in 1...clean.counters.pdus {
      let outcome = try flash(image, onto: "sim:\(device)&cut-at-pdu=\(pdu)")
      #expect(Self.isTrue(outcome, image), "cut at \(pdu): \(outcome.result)")
      #expect(outcome.log.offsets.allSatisfy { $0 == 0 })
      guard case .success(let result) = outcome.result else {
        Issue.record("cut at \(pdu): \(outcome.result)")
        continue
      }
      #expect(result.proof == .version, "cut at \(pdu)")
      #expect(outcome.runningImage == image.bytes, "cut at \(pdu)")
    }
  }

  /// A lost link without another attempt: the error states that the next attempt starts over.
  @Test func aLostLinkIsReportedWithoutResume() throws {
    let outcome = try flash(try telink(60_000), onto: "sim:telink?cut-at-pdu=200") {
      $0.reconnection = .none
    }
    guard case .failure(.linkLost(_, .upload, resumable: false, let acknowledged)) = outcome.result
    else {
      Issue.record("\(outcome.result)")
      return
    }
    #expect(acknowledged > 10_000)
    guard case .failure(let fault) = outcome.result else { return }
    #expect(fault.explanation.contains("the next attempt starts over"))
  }

  /// An interrupted update must never start: the mark is written last.
  @Test(arguments: 1...40)
  func aResetInAnyFlashOperationLeavesAnImage(_ operation: Int) throws {
    let image = try telink(3000)
    for fault in ["", "&torn"] {
      let outcome = try flash(
        image, onto: "sim:telink?pdu=80&slot=16K&reset-at-flash-op=\(operation)" + fault)
      #expect(Self.isTrue(outcome, image), "\(operation)\(fault): \(outcome.result)")
    }
  }

  /// One PDU is lost, repeated, or changed.
  @Test(arguments: ["telink", "telink-legacy"], ["lost", "twice", "damaged"])
  func aFaultyPacketStartsOver(_ device: String, _ fault: String) throws {
    let image = try telink(20_000)
    let interfering: Interference = { number, value in
      guard number == 40 else { return [value] }
      switch fault {
      case "lost": return []
      case "twice": return [value, value]
      default: return [value.dropLast() + [value[value.count - 1] ^ 1]]
      }
    }
    let outcome = try flash(image, onto: "sim:\(device)", interfering: interfering)
    #expect(try outcome.result.get().proof == .version)
    #expect(outcome.runningImage == image.bytes)
    #expect(outcome.log.offsets == [0, 0])
    if device == "telink" { #expect(outcome.log.restarts.count == 1) }
  }

  @Test func packetsThatAreAlwaysLostAreReported() throws {
    let outcome = try flash(
      try telink(20_000), onto: "sim:telink",
      interfering: { _, value in value.count > 100 && value[0] == 9 ? [] : [value] })
    guard case .failure(.declined(.upload, let refusal)) = outcome.result else {
      Issue.record("\(outcome.result)")
      return
    }
    #expect(refusal.code == "Telink OTA 1" && refusal.remedy == .tryAgain)
    #expect(outcome.log.restarts.count == TelinkRetained.lossesMaximum)
  }

  /// Packets are lost, repeated, damaged and shortened at random. An update that did not install
  /// the image must not be reported as verified.
  @Test(arguments: 1...60 as ClosedRange<UInt64>)
  func randomFaultsNeverLeadToAFalseClaim(_ seed: UInt64) throws {
    let device = ["telink", "telink?pdu=80", "telink-legacy", "telink-legacy?information=no"][
      Int(seed % 4)]
    let image = try telink(4000 + Int(seed) * 16, seed: seed)
    let interfering: Interference = { number, value in
      var random = SeededRandom(seed: seed &* 1000 &+ UInt64(number))
      switch Int.random(in: 0..<400, using: &random) {
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

  /// The device ignores everything after an error, and an old SDK does not report the error.
  @Test func anUnreportedErrorBeforeTheEndIsNotSuccess() throws {
    let image = try telink(3000, version: nil)
    let last = (image.bytes.count + 15) / 16
    let outcome = try flash(
      image, onto: "sim:telink-legacy?information=no&error-delay=4s",
      interfering: { number, value in number == last ? [] : [value] })
    let result = try outcome.result.get()
    #expect(result.outcome == .restarted && !result.isVerified)
    #expect(outcome.runningImage != image.bytes)
  }

  @Test func aLostEndIsReported() throws {
    let outcome = try flash(
      try telink(3000), onto: "sim:telink",
      interfering: { _, value in value.starts(with: [2, 0xFF]) ? [] : [value] })
    guard case .failure(.declined(.activate, let refusal)) = outcome.result else {
      Issue.record("\(outcome.result)")
      return
    }
    #expect(refusal.code == "Telink OTA 12")
  }
}
