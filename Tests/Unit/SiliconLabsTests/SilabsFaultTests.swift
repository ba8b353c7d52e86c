import OtaflashATT
import OtaflashFirmware
import OtaflashGATT
import OtaflashSimulation
import Testing

@testable import OtaflashUpdate

/// Tests with faults at every place: the link, the power, single writes, and hostile devices. An
/// update ends with the correct image or with a fault, and never reports an image as verified that
/// does not run.
@Suite struct SilabsFaultTests {
  private static let image = file(3000)
  private static let devices = ["silabs?erase=5ms", "silabs-app-ota?erase=5ms&slot=16K"]

  /// Checks that no result claims an image that does not run, and that the last update succeeded
  /// if `mustSucceed` is set.
  private func check(_ outcome: SilabsOutcome, _ what: String, mustSucceed: Bool = true) {
    for result in outcome.results {
      if case .success(let result) = result, result.isVerified {
        #expect(outcome.runs(Self.image), "\(what): a false claim")
      }
    }
    if mustSucceed, case .failure(let fault) = outcome.last {
      Issue.record("\(what): \(fault)")
    }
  }

  @Test(arguments: devices)
  func theLinkMayBeCutAtEveryPDU(_ device: String) throws {
    let pdus = try update([Self.image], onto: "sim:" + device).counters.pdus
    #expect(pdus > 60)
    for pdu in 1...pdus {
      let outcome = try update([Self.image], onto: "sim:\(device)&cut-at-pdu=\(pdu)")
      check(outcome, "\(device), PDU \(pdu) of \(pdus)")
      #expect(outcome.runs(Self.image), "PDU \(pdu)")
    }
  }

  /// The update ends at the first lost link, and is run twice more. The second run may find the
  /// device during its restart.
  @Test(arguments: devices)
  func theNextRunEndsTheUpdate(_ device: String) throws {
    let pdus = try update([Self.image], onto: "sim:" + device).counters.pdus
    for pdu in stride(from: 1, through: pdus, by: 3) {
      let outcome = try update(
        [Self.image, Self.image, Self.image], onto: "sim:\(device)&cut-at-pdu=\(pdu)"
      ) {
        $0.reconnection = .none
        $0.sendsAnyway = false
      }
      check(outcome, "\(device), PDU \(pdu)")
      #expect(outcome.runs(Self.image), "PDU \(pdu)")
    }
  }

  @Test(arguments: devices, [false, true])
  func thePowerMayFailAtEveryFlashOperation(_ device: String, _ isTorn: Bool) throws {
    let operations = try update([Self.image], onto: "sim:" + device).counters.flashOperations
    #expect(operations > 5)
    for operation in 1...operations {
      let fault = "reset-at-flash-op=\(operation)" + (isTorn ? "&torn" : "")
      let outcome = try update([Self.image, Self.image], onto: "sim:\(device)&\(fault)")
      check(outcome, "\(device), \(fault)")
      #expect(outcome.runs(Self.image), "\(fault)")
    }
  }

  /// One write is lost, repeated or late. The loader detects the change, so its update must
  /// succeed.
  @Test(arguments: devices, 0..<40)
  func lostRepeatedAndLateWritesAreNoticed(_ device: String, _ seed: UInt64) throws {
    let once = Once()
    let outcome = try update([Self.image], onto: "sim:" + device) { _ in
    } through: { link, clock in
      AlteringCommands(link, clock) { number, _ in
        var random = SeededRandom(seed: seed << 8 + UInt64(number))
        guard random.happens(withProbability: 0.2), once.take() else { return .sent }
        switch Int.random(in: 0..<3, using: &random) {
        case 0: return .lost
        case 1: return .repeated
        default: return .delayed(.milliseconds(Int.random(in: 1...9000, using: &random)))
        }
      }
    }
    // An application never notices the loss; the installed version shows the failure.
    check(outcome, "\(device), seed \(seed)", mustSucceed: device.hasPrefix("silabs?"))
    if case .success(let result) = outcome.last { #expect(result.isVerified) }
  }

  /// Each write without response is lost with a probability of 10 %.
  @Test(arguments: 0..<20)
  func repeatedLossesEndWithAFaultOrTheImage(_ seed: UInt64) throws {
    let outcome = try update([Self.image], onto: "sim:" + Self.devices[Int(seed) % 2]) { _ in
    } through: { link, clock in
      AlteringCommands(link, clock) { number, bytes in
        var random = SeededRandom(seed: seed << 16 + UInt64(number) << 8 + UInt64(bytes.count))
        return random.happens(withProbability: 0.1) ? .lost : .sent
      }
    }
    check(outcome, "seed \(seed)", mustSucceed: seed.isMultiple(of: 2))
  }

  @Test(arguments: [
    "silent", "mtu-lie", "never-returns", "new-address", "busy-forever", "bad-block",
    "nonsense-pdus=2%", "latePDU", "adapter-vanishes", "loss=20%", "slow-observer",
  ])
  func aBrokenDeviceEndsTheUpdate(_ fault: String) throws {
    let fault = fault == "latePDU" ? "late-pdu=60" : fault
    for device in Self.devices {
      check(
        try update([Self.image], onto: "sim:\(device)&\(fault)"), "\(device), \(fault)",
        mustSucceed: false)
    }
  }

  /// The device sends random PDUs between its responses.
  @Test(arguments: 0..<30)
  func aHostileDeviceNeverCausesAClaim(_ seed: Int) throws {
    for device in Self.devices {
      check(
        try update([Self.image], onto: "sim:\(device)&nonsense-pdus=10%&seed=\(seed)"),
        "\(device), seed \(seed)", mustSucceed: false)
    }
  }
}
