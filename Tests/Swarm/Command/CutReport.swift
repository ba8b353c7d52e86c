import Dispatch
import OtaflashSwarm
import Synchronization

/// Every cut of every sample in every write mode, and of an update of each other kind of device.
struct CutReport {
  private struct Unit: Sendable {
    let sweep: CutSweep
    let name: String
  }

  let folder: String
  let jobs: Int
  /// Only devices whose profile begins so.
  let kind: String

  /// Prints a line for each sample and mode, and one for each failure; `true` when there is none.
  func isClean() -> Bool {
    do {
      let samples = try Samples.scenarios(in: folder).map { scenario in
        Unit(
          sweep: try CutSweep(scenario),
          name: "\(scenario.image.name) \(scenario.mode.rawValue)")
      }
      let kinds = try KindSamples.scenarios().map { scenario in
        Unit(sweep: try CutSweep(scenario), name: scenario.profile)
      }
      let units = samples + kinds
      return units.filter { $0.sweep.scenario.profile.hasPrefix(kind) }.map(cut).allSatisfy { $0 }
    } catch {
      print("the samples in \(folder) cannot be cut: \(error)")
      return false
    }
  }

  private func cut(_ unit: Unit) -> Bool {
    let clock = ContinuousClock()
    let began = clock.now
    let next = Atomic<Int>(1)
    let failures = Atomic<Int>(0)
    DispatchQueue.concurrentPerform(iterations: jobs) { _ in
      while true {
        let pdu = next.add(1, ordering: .relaxed).oldValue
        guard pdu <= unit.sweep.pdus else { return }
        let violations = unit.sweep.violations(cutAt: pdu)
        guard !violations.isEmpty else { continue }
        failures.add(1, ordering: .relaxed)
        print("\(unit.name): cut-at-pdu=\(pdu): \(violations)")
      }
    }
    let count = failures.load(ordering: .relaxed)
    let seconds = Int(((clock.now - began) / .seconds(1)).rounded())
    print("\(unit.name): \(unit.sweep.pdus) cuts in \(seconds) s, \(count) violated what must hold")
    return count == 0
  }
}
