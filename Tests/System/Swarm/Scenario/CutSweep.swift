import OtaflashFirmware
import OtaflashSimulation
import OtaflashUpdate

/// The update of one image, cut at each PDU or in each flash operation in turn. Each time the update
/// must resume and succeed.
public struct CutSweep: Sendable {
  /// The number of PDUs at the start and at the end of a run that `chosen` always includes, because
  /// these PDUs connect and verify.
  private static let edge = 30

  public let scenario: Scenario
  /// The number of PDUs in the run without faults, in both directions together.
  public let pdus: Int
  /// The number of flash operations in the run without faults.
  public let operations: Int
  /// The delivery of the run without faults.
  public let delivery: DeliveryReport?

  /// - Parameter scenario: a scenario without faults.
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

  /// Returns all cuts at both ends of the run, and at least `count` cuts between them at equal
  /// distances; all cuts if the run is short.
  public func chosen(_ count: Int) -> [Int] {
    guard pdus > 2 * Self.edge + count else { return all }
    let middle = stride(from: Self.edge, to: pdus - Self.edge, by: (pdus - 2 * Self.edge) / count)
    return Array(1..<Self.edge) + middle + Array((pdus - Self.edge)...pdus)
  }

  /// Returns the violations in the run that was cut at this PDU.
  public func violations(cutAt pdu: Int) -> [Violation] {
    violations(with: "cut-at-pdu=\(pdu)")
  }

  /// Returns the violations in the run in which the device lost power in this flash operation.
  ///
  /// - Parameter torn: whether the operation is half done; otherwise it is not started.
  public func violations(resetAt operation: Int, torn: Bool) -> [Violation] {
    violations(with: "reset-at-flash-op=\(operation)" + (torn ? "&torn" : ""))
  }

  private func violations(with fault: String) -> [Violation] {
    var cut = scenario
    cut.profile += (cut.profile.contains("?") ? "&" : "?") + fault
    return Judgement(of: cut).violations
  }
}
