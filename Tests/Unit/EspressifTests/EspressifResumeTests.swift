import OtaflashATT
import OtaflashFirmware
import OtaflashGATT
import OtaflashSimulation
import Testing

@testable import OtaflashUpdate

/// Tests of lost links: a cut at every PDU, and the transfers of other hosts.
@Suite struct EspressifResumeTests {
  /// After every cut, the correct image runs, or an error is reported. Success is never reported
  /// without the correct image.
  @Test(
    arguments: implementations.map { ($0, "no") } + [("esp-raw", "yes"), ("esp-bleota", "yes")])
  func aCutAtEveryPDU(_ name: String, _ information: String) throws {
    let image = try application(5000)
    let profile = quick(name, "boot=0&information=" + information)
    let whole = try flash([image], onto: profile)
    let total = whole.log.crossings.count
    var resumed = 0
    var failed = 0
    for cut in 1...total {
      var interference = Interference()
      interference.cut = cut
      let outcome = try flash([image], onto: profile, interference)
      switch outcome.last {
      case .success(let result):
        #expect(outcome.runningImage == image.bytes, "cut \(cut): \(result.outcome)")
      case .failure(let fault):
        failed += 1
        #expect(Self.isClear(fault), "cut \(cut): \(fault)")
      }
      if outcome.log.offsets.contains(where: { $0 > 0 }) { resumed += 1 }
    }
    let resumes = ["esp-nimble", "esp-raw"].contains(name)
    #expect((resumed > 0) == resumes, "\(resumed) of \(total) resumed, \(failed) failed")
    if resumes || name == "esp-bleota" || name == "esp-nimbleota" {
      #expect(failed == 0, "\(failed) of \(total)")
    }
  }

  private static func isClear(_ fault: UpdateFault) -> Bool {
    guard case .declined(_, let refusal) = fault else { return false }
    return refusal.remedy == .restartDevice
  }

  @Test func aKeptTransferIsResumed() throws {
    let image = try application(30_000)
    var interference = Interference()
    interference.cut = 70
    let outcome = try flash(
      [image], onto: quick("esp-nimbleota", "keep=yes&interval=15ms"), interference)
    #expect(outcome.runningImage == image.bytes)
    #expect(outcome.log.offsets.contains { $0 > 0 })
  }

  /// The previous host stopped in the middle; the device holds a part of another image.
  @Test(arguments: implementations)
  func thePartOfAnotherImageIsNeverContinued(_ name: String) throws {
    let first = try application(40_000, seed: 2)
    let second = try application(40_000)
    let outcome = try flash(
      [first, second], onto: "sim:\(name)?erase=0&write=1s&slot=64K&interval=15ms&keep=yes",
      cancelAfter: .seconds(6))
    guard case .failure(.cancelled(resumable: false, let acknowledged)) = outcome.results[0] else {
      Issue.record("\(outcome.results[0])")
      return
    }
    #expect(acknowledged > 0)
    #expect(outcome.log.offsets.allSatisfy { $0 == 0 })
    switch outcome.last {
    case .success: #expect(outcome.runningImage == second.bytes)
    case .failure(let fault):
      #expect(Self.isClear(fault), "\(fault)")
      #expect(["esp-nimble", "esp-bluedroid", "esp-raw"].contains(name))
    }
  }

  /// A restart of the device ends the transfer. The update then starts over, and is completed.
  @Test(arguments: implementations)
  func aRestartOfTheDeviceStartsOver(_ name: String) throws {
    let image = try application(40_000)
    let outcome = try flash(
      [image], onto: quick(name, "interval=15ms"), powerCutAfter: .milliseconds(4000))
    #expect(outcome.fault == nil)
    #expect(outcome.runningImage == image.bytes)
  }
}
