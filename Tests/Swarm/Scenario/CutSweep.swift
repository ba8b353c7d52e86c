import OtaflashFirmware
import OtaflashSimulation
import OtaflashUpdate

/// One image, cut at each PDU of its clean run in turn, resumed, and compared.
public struct CutSweep: Sendable {
  /// PDUs at either end of a run that a chosen sweep leaves none out of: connecting, and proving.
  private static let edge = 30

  public let scenario: Scenario
  /// PDUs of the clean run, both directions together.
  public let pdus: Int

  /// - Parameter scenario: without faults.
  public init(_ scenario: Scenario) throws(ScenarioFault) {
    var scenario = scenario
    scenario.mustSucceed = true
    self.scenario = scenario
    pdus = try scenario.run().counters.pdus
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
    var cut = scenario
    cut.profile += (cut.profile.contains("?") ? "&" : "?") + "cut-at-pdu=\(pdu)"
    return Judgement(of: cut).violations
  }
}
