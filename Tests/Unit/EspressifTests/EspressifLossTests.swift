import OtaflashATT
import OtaflashFirmware
import OtaflashGATT
import OtaflashSimulation
import Testing

@testable import OtaflashUpdate

/// Tests with lost, repeated and late packets and answers.
@Suite struct EspressifLossTests {
  static let withCommands = ["esp-raw", "esp-nimbleota", "esp-bleota"]

  /// After one lost packet, the host returns to an earlier sector at most once.
  @Test(arguments: withCommands, [3, 10, 17, 30])
  func aLostPacketIsRepaired(_ name: String, _ number: Int) throws {
    let image = try application()
    var interference = Interference()
    interference.packets = { $0 == number ? .lose : .pass }
    let outcome = try flash([image], onto: quick(name, "mtu=247"), interference)
    #expect(outcome.fault == nil)
    #expect(outcome.runningImage == image.bytes)
    #expect(outcome.log.rewinds <= 1)
  }

  @Test(arguments: implementations, 1...20)
  func anUnreliableHostNeverClaimsAWrongImage(_ name: String, _ seed: UInt64) throws {
    let image = try application(9000)
    let outcome = try flash(
      [image], onto: quick(name, "mtu=185&information=yes&seed=\(seed)"),
      Self.interference(seed: seed))
    switch outcome.last {
    case .success: #expect(outcome.runningImage == image.bytes)
    case .failure(let fault):
      if case .protocolViolation = fault { Issue.record("\(fault)") }
    }
  }

  /// Actions for 3 % of the packets and 10 % of the answers.
  static func interference(seed: UInt64) -> Interference {
    @Sendable func action(_ number: Int, _ share: Double, _ part: UInt64) -> Interference.Action {
      var random = SeededRandom(seed: seed).forked(for: part &+ UInt64(number))
      guard random.happens(withProbability: share) else { return .pass }
      return [.lose, .twice, .late][Int.random(in: 0...2, using: &random)]
    }
    var interference = Interference()
    interference.packets = { action($0, 0.03, 1_000) }
    interference.answers = { action($0, 0.1, 1_000_000) }
    return interference
  }

  /// An update succeeds even if one answer is lost.
  @Test(arguments: implementations, [2, 3, 4])
  func aLostAnswerCostsNoSector(_ name: String, _ number: Int) throws {
    let image = try application()
    var interference = Interference()
    interference.answers = { $0 == number ? .lose : .pass }
    let outcome = try flash([image], onto: quick(name), interference)
    #expect(outcome.fault == nil)
    #expect(outcome.runningImage == image.bytes)
  }

  @Test(arguments: implementations)
  func repeatedAnswersAreIgnored(_ name: String) throws {
    let image = try application()
    var interference = Interference()
    interference.answers = { _ in .twice }
    let outcome = try flash([image], onto: quick(name), interference)
    #expect(outcome.fault == nil)
    #expect(outcome.runningImage == image.bytes)
    #expect(outcome.log.rewinds == 0)
  }

  /// Every packet after the 25th is lost, so the second sector is never complete.
  @Test(arguments: withCommands)
  func aSectorThatNeverArrivesIsReported(_ name: String) throws {
    var interference = Interference()
    interference.packets = { $0 > 25 ? .lose : .pass }
    let outcome = try flash([application()], onto: quick(name, "mtu=247"), interference)
    guard case .blockKeepsFailing = outcome.fault else {
      Issue.record("\(outcome.last)")
      return
    }
  }
}
