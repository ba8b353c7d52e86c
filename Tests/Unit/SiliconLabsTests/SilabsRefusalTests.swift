import OtaflashATT
import OtaflashFirmware
import OtaflashGATT
import OtaflashSimulation
import Testing

@testable import OtaflashUpdate

/// Tests of the refusals of devices, and of devices that drop data.
@Suite struct SilabsRefusalTests {
  private static let image = file(20_000)

  @Test func everyCodeHasAMessageAndARemedy() {
    for party in [SilabsParty.application, .loader, .storage] {
      for code in UInt8(0x80)...0x9F {
        let refusal = ProtocolRefusal.silabs(ATTErrorCode(code), of: party)
        #expect(refusal.code == "silabs 0x\(String(code, radix: 16))")
        #expect(!refusal.meaning.isEmpty && !refusal.meaning.hasSuffix("."))
        #expect(refusal.advice.hasSuffix("."))
        #expect(refusal.remedy != nil || code == 0x86)
      }
    }
    let loader = (0x80...0x87).map {
      ProtocolRefusal.silabs(ATTErrorCode($0), of: .loader).meaning
    }
    #expect(Set(loader).count == 8)
  }

  @Test func anApplicationMayRequireABond() throws {
    let outcome = try update([Self.image], onto: "sim:silabs?bond=yes")
    #expect(outcome.refusal?.code == "silabs 0x80" && outcome.refusal?.kind == .forbidden)
    #expect(outcome.refusal?.remedy == .pair)
  }

  /// The loader may have dropped data, so the transfer is repeated twice before the verdict counts.
  @Test func theVerdictOfALoaderIsBelievedAfterAcknowledgedWrites() throws {
    let outcome = try update([Self.image, Self.image], onto: "sim:silabs?signed=yes")
    #expect(outcome.refusal?.code == "silabs 0x80" && outcome.refusal?.kind == .rejected)
    #expect(outcome.refusal?.advice.contains("without an application") == true)
    #expect(outcome.log.restarts.count == 4, "\(outcome.log.restarts)")
    #expect(outcome.running.isEmpty)
  }

  @Test func anImageOutsideOfTheApplicationIsRefused() throws {
    let large = try update([file(70_000)], onto: "sim:silabs?slot=64K")
    #expect(large.refusal?.code == "silabs 0x83" && large.refusal?.kind == .unsuitable)
    let stored = try update([file(70_000)], onto: "sim:silabs-app-ota?slot=64K")
    #expect(stored.refusal?.code == "silabs 0x82" && stored.refusal?.kind == .doesNotFit)
  }

  @Test func aLoaderThatIsNotReadyIsAskedAgain() throws {
    let outcome = try update([Self.image], onto: "sim:silabs?ready=4s")
    #expect(try outcome.last.get().outcome == .flashed)
    #expect(outcome.log.all.contains(.deviceBusy))
    let never = try update([Self.image], onto: "sim:silabs?ready=1000s")
    #expect(never.refusal?.code == "silabs 0x87")
  }

  @Test func aStorageThatIsNeverReadyIsReported() throws {
    let outcome = try update([Self.image], onto: "sim:silabs-app-ota?busy-forever")
    guard case .failure(.stalled) = outcome.last else {
      Issue.record("\(outcome.last)")
      return
    }
    #expect(outcome.elapsed < .seconds(200))
  }

  // MARK: Dropped data

  /// The overlapping pace needs 16 buffers or more, the alternating pace 8.
  @Test(arguments: [("24", 0), ("8", 1), ("3", 2)])
  func theHostSlowsDownForADeviceWithFewBuffers(_ buffers: String, _ failures: Int) throws {
    let outcome = try update([Self.image], onto: "sim:silabs?buffer=\(buffers)")
    #expect(try outcome.last.get().outcome == .flashed && outcome.runs(Self.image))
    #expect(outcome.log.restarts.count <= failures, "\(outcome.log.restarts)")
    #expect((outcome.log.restarts.count > 0) == (failures > 0))
  }

  /// A lost write is noticed by the loader at the end, and the file is sent again.
  @Test(arguments: [1, 2, 30, 60])
  func aLostWriteIsRepaired(_ lost: Int) throws {
    let once = Once()
    let outcome = try update([Self.image], onto: "sim:silabs") { _ in
    } through: { link, clock in
      AlteringCommands(link, clock) { number, _ in
        number == lost && once.take() ? .lost : .sent
      }
    }
    #expect(try outcome.last.get().outcome == .flashed && outcome.runs(Self.image))
    #expect(outcome.log.restarts == ["it may have dropped data"])
  }
}
