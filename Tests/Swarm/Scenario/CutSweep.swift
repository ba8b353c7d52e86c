import OtaflashFirmware
import OtaflashSimulation
import OtaflashUpdate

/// One image, its clean run ended at each PDU, or in each flash operation, in turn; resumed, and compared.
public struct CutSweep: Sendable {
  /// PDUs at either end of a run that a chosen sweep leaves none out of: connecting, and proving.
  private static let edge = 30

  public let scenario: Scenario
  /// PDUs of the clean run, both directions together.
  public let pdus: Int
  /// Flash operations of the clean run.
  public let operations: Int
  /// What the clean run sent instead of the image.
  public let delivery: DeliveryReport?

  /// - Parameter scenario: without faults.
  public init(_ scenario: Scenario) throws(ScenarioFault) {
    var scenario = scenario
    scenario.mustSucceed = true
    scenario.sharedFinder = scenario.finder
    self.scenario = scenario
    let ending = try scenario.run()
    pdus = ending.counters.pdus
    operations = ending.counters.flashOperations
    delivery = ending.delivery
  }

  public var all: [Int] { Array(1...pdus) }

  /// All cuts at both ends, and `count` between them at equal distances.
  public func chosen(_ count: Int) -> [Int] {
    guard pdus > 2 * Self.edge + count else { return all }
    let middle = stride(from: Self.edge, to: pdus - Self.edge, by: (pdus - 2 * Self.edge) / count)
    return Array(1..<Self.edge) + middle + Array((pdus - Self.edge)...pdus)
  }

  /// What must not have happened in the run that was cut there.
  public func violations(cutAt pdu: Int) -> [Violation] {
    violations(with: "cut-at-pdu=\(pdu)")
  }

  /// What must not have happened in the run in which the device lost its power there.
  ///
  /// - Parameter torn: it is half done.
  public func violations(resetAt operation: Int, torn: Bool) -> [Violation] {
    violations(with: "reset-at-flash-op=\(operation)" + (torn ? "&torn" : ""))
  }

  private func violations(with fault: String) -> [Violation] {
    var cut = scenario
    cut.profile += (cut.profile.contains("?") ? "&" : "?") + fault
    return Judgement(of: cut).violations
  }
}
