import OtaflashATT
import OtaflashFleet
import OtaflashNumerals

extension RunReport {
  /// The headline of the report, such as
  /// `47 of 50 devices run 1.3.0, verified by read-back; 2 failed, 1 was not found`. Devices that
  /// report no version or a different version are counted separately.
  package var headline: String {
    let counts = counts
    let done = devices.filter { $0.outcome == .succeeded }
    var main = done.filter(runsVersion)
    var others = done.filter { !runsVersion($0) }
    var label = version ?? (main.isEmpty ? "the new image" : "the campaign's versions")
    if main.isEmpty, !done.isEmpty { (main, others, label) = (others, [], "the new image") }
    let subject =
      main.count == counts.total && main.count > 1
      ? "All \(Figures.counted(main.count, "device"))"
      : "\(Numerals.grouped(main.count)) of \(Figures.counted(counts.total, "device"))"
    var sentence = "\(subject) \(main.count == 1 ? "runs" : "run") \(label)"
    sentence += GradeCounts(main).clause
    if !others.isEmpty {
      let isOne = others.count == 1
      sentence += "; \(Numerals.grouped(others.count)) \(isOne ? "other does" : "others do") not "
      sentence += "report the image's version, but \(isOne ? "runs" : "run") the new image"
      sentence += GradeCounts(others).clause
    }
    return sentence + failureClauses(counts)
  }

  private func failureClauses(_ counts: OutcomeCounts) -> String {
    let others = Outcome.allCases.compactMap { outcome -> String? in
      let count = counts[outcome]
      return count > 0 ? Self.clause(outcome, count) : nil
    }
    return others.isEmpty ? "" : "; " + others.joined(separator: ", ")
  }

  /// Returns whether a device reports the version of its image.
  private func runsVersion(_ device: DeviceReport) -> Bool {
    guard let runs = device.to?.description else { return false }
    let image = image(of: device)
    // A version in a file may include a build number, such as `1.3.0+7`, which devices do not
    // report.
    guard let version = image?.version?.prefix(while: { $0 != "+" }) else { return true }
    return version == runs
  }

  /// The target version of the devices; `nil` if there are several versions, or if no version is
  /// known.
  package var version: String? {
    let reported = Set(devices.filter(runsVersion).compactMap { $0.to?.description })
    let named = Set((beginning.images ?? []).compactMap(\.version))
    let versions = reported.isEmpty ? named : reported
    return versions.count == 1 ? versions.first : nil
  }

  private static func clause(_ outcome: Outcome, _ count: Int) -> String? {
    let number = Numerals.grouped(count)
    let isOne = count == 1
    return switch outcome {
    case .succeeded: nil
    case .failed: "\(number) failed"
    case .unseen: "\(number) \(isOne ? "was" : "were") not found"
    case .neutral: "\(number) \(isOne ? "was" : "were") skipped"
    case .running: "\(number) \(isOne ? "is" : "are") in progress"
    case .waiting: "\(number) \(isOne ? "waits" : "wait")"
    case .leftOut: "\(number) \(isOne ? "was" : "were") not completed"
    }
  }

  /// The devices that run their image, grouped by verification grade.
  package var grades: GradeCounts { GradeCounts(devices) }

  /// The state or the outcome of the run, as a clause.
  package var stateWords: String { state.words { waves[$0].name } }

  /// Returns the reason why a run has paused, as a clause.
  package func words(of reason: PauseReason) -> String {
    State.words(of: reason) { waves[$0].name }
  }
}

extension RunReport.State {
  /// Returns the state or the outcome of a run, as a clause.
  ///
  /// - Parameter name: the name of a wave by its index.
  package func words(wave name: (Int) -> String) -> String {
    switch self {
    case .running: "in progress"
    case .cancelling: "being cancelled"
    case .awaitingApproval(let wave): "waiting for approval after wave \(name(wave))"
    case .paused(let reason): "paused: \(Self.words(of: reason, wave: name))"
    case .ended(.complete(failed: 0)): "complete"
    case .ended(.complete(let others)): "complete, \(Numerals.grouped(others)) not updated"
    case .ended(.stopped(let wave)): "stopped by failures in wave \(name(wave))"
    case .ended(.cancelled): "cancelled"
    }
  }

  fileprivate static func words(of reason: PauseReason, wave name: (Int) -> String) -> String {
    switch reason {
    case .asked: "requested by an operator"
    case .infrastructure(let failures, let words):
      "\(Figures.counted(failures, "consecutive attempt")) failed on the host: \(words)"
    case .noAdapter: "no adapter is present"
    case .failureLimit(let wave): "wave \(name(wave)) has too many failures"
    case .hook(_, let point, let words): "the hook \(point.rawValue) \(words)"
    case .inconclusive(let wave):
      "too few devices of wave \(name(wave)) have an outcome"
    }
  }
}

extension WaveReport {
  /// The decision about the wave, as a clause.
  package var verdictWords: String {
    switch (phase, verdict) {
    case (.planned, _): "not started"
    case (.open, nil) where isOver: "not complete"
    case (.soaking, _) where isOver: "not judged: the soak time had not ended"
    case (.awaitingApproval, _) where isOver: "good; not approved"
    case (.open, nil): "in progress"
    case (.soaking, _): "soaking"
    case (.awaitingApproval, _): "good; waiting for approval"
    case (_, .continue): "good"
    case (_, .stop(let failures, let size)):
      "stopped: \(failures) of \(Figures.counted(size, "device")) failed"
    case (.passed, .inconclusive(let seen, let size)):
      "\(seen) of \(size) have an outcome; "
        + "\(times.approvedBy?.by ?? "an operator") approved the wave"
    case (_, .inconclusive(let seen, let size)):
      "inconclusive: \(seen) of \(Figures.counted(size, "device")) have an outcome"
    case (.judged, nil), (.passed, nil): "over"
    }
  }

  /// The rule of the wave: `success at 80 %, stops at 2 failures, verdict needs 50 % with an
  /// outcome, soaks 10 min`.
  package var ruleWords: String? {
    guard let rule else { return nil }
    let stop = rule.thresholds.stop.devices(of: devices.count)
    var parts = [
      "success at \(rule.thresholds.successPercent) %",
      (rule.thresholds.stopAction == .pause ? "pauses at " : "stops at ")
        + Figures.counted(stop, "failure"),
      "verdict needs \(rule.thresholds.seenPercent) % with an outcome",
    ]
    if rule.soakMilliseconds > 0 {
      parts.append("soaks \(Figures.duration(rule.soakMilliseconds))")
    }
    if rule.needsApproval { parts.append("needs approval") }
    return parts.joined(separator: ", ")
  }
}
