import OtaflashBlueZ
import OtaflashConsole
import OtaflashGATT

/// The link parameters that the commands request, and their reports.
package enum RadioTuning {
  /// Returns a tuner for an adapter. The tuner is not started yet.
  ///
  /// - Parameters:
  ///   - adapter: the number of the adapter, by default the adapter of the session.
  ///   - isExplicit: whether the user requested the parameters, so that refusals are reported.
  package static func tuner(
    _ tuning: LinkTuning?, of adapter: UInt16? = nil, isExplicit: Bool, in session: Session
  ) -> LinkTuner {
    let console = session.console
    let adapter = adapter ?? session.global.adapterNumber ?? 0
    return LinkTuner(adapter: adapter, tuning: tuning) { _, steps in
      for step in steps {
        console.event("tuning", step.members)
        let isGranted = step.outcome == .granted
        console.note("  " + step.sentence, verbosity: isGranted || !isExplicit ? 1 : 0)
      }
    }
  }
}

extension TuningStep {
  /// The outcome as a sentence, such as `interval 7.5…15 ms requested, granted: 15 ms`.
  package var sentence: String {
    let head = "\(subject.rawValue) \(asked) requested, "
    let rest = now.map { "; the link has \($0)" } ?? ""
    switch outcome {
    case .granted: return head + "granted" + (now.map { ": \($0)" } ?? "")
    case .refused(let reason): return head + "not granted: \(reason)\(rest)"
    case .notPermitted: return head + "not granted: it requires CAP_NET_RAW\(rest)"
    }
  }

  package var members: [JSONValue.Member] {
    let reason: String? =
      switch outcome {
      case .granted: nil
      case .refused(let reason): reason
      case .notPermitted: "it requires CAP_NET_RAW"
      }
    return JSONValue.fields([
      "subject": .string(subject.rawValue.lowercased()), "asked": .string(asked),
      "granted": .bool(outcome == .granted), "now": .text(now), "reason": .text(reason),
    ])
  }
}
