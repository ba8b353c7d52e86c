import Dispatch
import OtaflashSwarm
import Synchronization

/// The report of all cuts. The report covers every sample in every write mode, every variant of an
/// update of the other kinds of devices, and patches. Patches are also tested with a reset before
/// and during every flash operation.
struct CutReport {
  private struct Unit: Sendable {
    let sweep: CutSweep
    let name: String
    var resets = false

    /// The possible faults: the profile settings of each fault, and a function that returns the
    /// violations that the fault causes.
    var ends: [(words: String, violations: @Sendable () -> [Violation])] {
      let cuts = sweep.all.map { pdu in
        ("cut-at-pdu=\(pdu)", { @Sendable in sweep.violations(cutAt: pdu) })
      }
      guard resets else { return cuts }
      return cuts
        + (1...sweep.operations).flatMap { operation in
          [false, true].map { torn in
            (
              "reset-at-flash-op=\(operation)\(torn ? "&torn" : "")",
              { @Sendable in sweep.violations(resetAt: operation, torn: torn) }
            )
          }
        }
    }
  }

  let folder: String
  let jobs: Int
  /// The prefix of the profiles to test.
  let kind: String

  /// Prints a line for each sample and mode, and one for each failure; returns `true` if there is
  /// no failure.
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
      let patches = try PatchSample.all().map { sample in
        Unit(
          sweep: try CutSweep(sample.scenario),
          name: "\(sample.scenario.profile) \(sample.scenario.mode.rawValue), a patch in parts of "
            + "\(sample.part)", resets: true)
      }
      let units = samples + kinds + patches
      return units.filter { $0.sweep.scenario.profile.hasPrefix(kind) }.map(cut).allSatisfy { $0 }
    } catch {
      print("the cuts of the samples in \(folder) cannot be tested: \(error)")
      return false
    }
  }

  private func cut(_ unit: Unit) -> Bool {
    let clock = ContinuousClock()
    let began = clock.now
    let next = Atomic<Int>(0)
    let failures = Atomic<Int>(0)
    let ends = unit.ends
    DispatchQueue.concurrentPerform(iterations: jobs) { _ in
      while true {
        let index = next.add(1, ordering: .relaxed).oldValue
        guard index < ends.count else { return }
        let violations = ends[index].violations()
        guard !violations.isEmpty else { continue }
        failures.add(1, ordering: .relaxed)
        print("\(unit.name): \(ends[index].words): \(violations)")
      }
    }
    let count = failures.load(ordering: .relaxed)
    let seconds = Int(((clock.now - began) / .seconds(1)).rounded())
    print("\(unit.name): \(ends.count) cuts in \(seconds) s, \(count) with violations")
    return count == 0
  }
}
