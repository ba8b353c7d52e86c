import OtaflashFirmware
import OtaflashGATT
import OtaflashSimulation
import Testing

@testable import OtaflashUpdate

/// Tests of lost links and of lost, repeated and damaged packets. A run must end with the new image
/// or with a clear error, and must not report an image as verified that does not run.
@Suite struct SUOTAFaultTests {
  /// Whether the outcome is consistent with the final state of the device. The checksums of a
  /// stream receiver do not cover the header and the bytes before the code.
  private static func isTrue(_ outcome: SUOTAOutcome, _ image: FirmwareImage) -> Bool {
    switch outcome.result {
    case .success(let result):
      !result.isVerified || code(outcome.runningImage, image) == code(image.bytes, image)
    case .failure: true
    }
  }

  private static func code(_ bytes: [UInt8], _ image: FirmwareImage) -> ArraySlice<UInt8> {
    bytes.dropFirst(image.suota?.codeOffset ?? 0)
  }

  @Test(arguments: [
    "suota", "suota?information=no", "suota-da1453x", "suota-da1453x?information=no",
    "suota-da1453x?block=128",
  ])
  func theLinkCanBeCutAtEachPDU(_ device: String) throws {
    let device = "sim:\(device)\(device.contains("?") ? "&" : "?")slot=16K"
    let image = try image(3000, for: device)
    let clean = try flash(image, onto: device)
    let expected = try clean.result.get()
    for pdu in 1...clean.counters.pdus {
      let outcome = try flash(image, onto: device + "&cut-at-pdu=\(pdu)")
      #expect(Self.isTrue(outcome, image), "cut at \(pdu): \(outcome.result)")
      #expect(outcome.log.offsets.allSatisfy { $0 == 0 })
      guard case .success(let result) = outcome.result else {
        Issue.record("cut at \(pdu): \(outcome.result)")
        continue
      }
      #expect(result.proof == expected.proof, "cut at \(pdu)")
      #expect(outcome.runningImage == image.bytes, "cut at \(pdu)")
    }
  }

  /// A lost link without another attempt: the error states that the next attempt starts over.
  @Test func aLostLinkIsReportedWithoutResume() throws {
    let outcome = try flash(
      try image(60_000, for: "sim:suota"), onto: "sim:suota?cut-at-pdu=200"
    ) { $0.reconnection = .none }
    guard case .failure(let fault) = outcome.result,
      case .linkLost(_, .upload, resumable: false, let acknowledged) = fault
    else {
      Issue.record("\(outcome.result)")
      return
    }
    #expect(acknowledged > 10_000)
    #expect(fault.explanation.contains("the next attempt starts over"))
  }

  /// An interrupted update must never start: the signature is written last.
  @Test(arguments: 1...40)
  func aResetInAnyFlashOperationLeavesAnImage(_ operation: Int) throws {
    for (device, fault) in [
      ("sim:suota", ""), ("sim:suota", "&torn"), ("sim:suota-da1453x", ""),
      ("sim:suota-da1453x", "&torn"),
    ] {
      let image = try image(5000, for: device)
      let outcome = try flash(
        image, onto: "\(device)?slot=16K&reset-at-flash-op=\(operation)" + fault)
      #expect(Self.isTrue(outcome, image), "\(operation)\(fault): \(outcome.result)")
    }
  }

  /// One packet is lost, repeated, or changed.
  @Test(arguments: ["sim:suota", "sim:suota-da1453x"], ["lost", "twice", "damaged"])
  func aFaultyPacketIsDetected(_ device: String, _ fault: String) throws {
    let image = try image(20_000, for: device)
    let interfering: Interference = { number, value in
      guard number == 40 else { return [value] }
      switch fault {
      case "lost": return []
      case "twice": return [value, value]
      default: return [value.dropLast() + [value[value.count - 1] ^ 1]]
      }
    }
    let outcome = try flash(image, onto: device, interfering: interfering)
    if fault == "lost" || fault == "twice" && device == "sim:suota-da1453x" {
      #expect(try outcome.result.get().proof == .version)
      #expect(outcome.runningImage == image.bytes && outcome.log.offsets == [0, 0])
      #expect(outcome.log.restarts.count == 1)
    } else {
      // Only the checksum at the end shows the error.
      guard case .failure(.declined(.activate, let refusal)) = outcome.result else {
        Issue.record("\(outcome.result)")
        return
      }
      #expect(refusal.code == "SUOTA 4")
    }
  }

  @Test(arguments: ["sim:suota", "sim:suota-da1453x"])
  func packetsThatAreAlwaysLostAreReported(_ device: String) throws {
    let image = try image(20_000, for: device)
    let marked = Array(image.bytes[5000..<5010])
    let outcome = try flash(
      image, onto: device,
      interfering: { _, value in
        value.indices.contains { value[$0...].starts(with: marked) } ? [] : [value]
      })
    guard case .failure(.declined(.upload, let refusal)) = outcome.result else {
      Issue.record("\(outcome.result)")
      return
    }
    #expect(refusal.code == "lost data" && refusal.remedy == .tryAgain)
    #expect(outcome.log.restarts.count == SUOTARetained.lossesMaximum)
  }

  /// A device with little memory drops packets during the erase of a sector.
  @Test func aDeviceWithLittleMemoryIsUpdatedMoreSlowly() throws {
    let image = try image(30_000, for: "sim:suota")
    let outcome = try flash(image, onto: "sim:suota?pool=1024")
    #expect(try outcome.result.get().proof == .version)
    #expect(outcome.runningImage == image.bytes)
    #expect(!outcome.log.restarts.isEmpty)
  }

  /// Lost notifications are replaced by reads.
  @Test(arguments: ["sim:suota", "sim:suota-da1453x"], [1, 2, 3] as [UInt64])
  func lostStatusesAreRead(_ device: String, _ seed: UInt64) throws {
    let image = try image(20_000, for: device)
    let outcome = try flash(image, onto: "\(device)?notification-loss=20%&seed=\(seed)")
    #expect(try outcome.result.get().proof == .version)
    #expect(outcome.runningImage == image.bytes && outcome.log.restarts == [])
  }

  /// Packets are lost, repeated, damaged and shortened at random. The device is then either updated
  /// or reported as failed.
  @Test(arguments: 1...60 as ClosedRange<UInt64>)
  func randomFaultsNeverLeadToAFalseClaim(_ seed: UInt64) throws {
    let device = [
      "sim:suota?", "sim:suota-da1453x?", "sim:suota?chip=da1468x&",
      "sim:suota-da1453x?information=no&",
    ][Int(seed % 4)]
    let image = try image(4000 + Int(seed) * 16, for: device, seed: seed)
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
    let outcome = try flash(
      image, onto: "\(device)slot=16K&seed=\(seed)&loss=2%", interfering: interfering)
    #expect(Self.isTrue(outcome, image), "seed \(seed): \(outcome.result)")
    let old = Self.code(outcome.runningImage, image) != Self.code(image.bytes, image)
    if case .success(let result) = outcome.result, old { #expect(result.outcome == .restarted) }
  }

  @Test(arguments: ["sim:suota", "sim:suota-da1453x"])
  func aDeviceWithAFaultyFlashIsReported(_ device: String) throws {
    let outcome = try flash(try image(60_000, for: device), onto: device + "?bad-block&slot=128K")
    #expect(throws: UpdateFault.oldVersionStillRuns(running: FirmwareVersion(1, 2, 0))) {
      try outcome.result.get()
    }
  }

  @Test(arguments: ["sim:suota", "sim:suota-da1453x"], 1...20 as ClosedRange<UInt64>)
  func nonsenseIsReported(_ device: String, _ seed: UInt64) throws {
    let image = try image(5000, for: device)
    let outcome = try flash(image, onto: "\(device)?nonsense&seed=\(seed)")
    #expect(Self.isTrue(outcome, image), "\(outcome.result)")
  }
}
