/// Validation of recorded events. It is necessary because the fold traps on invalid events, and any
/// program of the store's owner can edit a store and recompute its hash chain.
extension FleetRun {
  /// The maximum count in an event, which is larger than any real count and far from overflow.
  private static let countMaximum = 1 << 40

  /// Returns the reason why the events are not valid for one run; `nil` if they are valid.
  package static func fault(of history: [RecordedEvent]) -> String? {
    guard case .runBegan(let beginning)? = history.first?.event else {
      return history.isEmpty ? "there are no events" : "the first event is not the start of a run"
    }
    guard beginning.windows?.all.allSatisfy(\.isSound) ?? true else {
      return "event 1 contains a window with an invalid time of day"
    }
    var planned = 0
    for (place, recorded) in history.enumerated() {
      let event = recorded.event
      switch event {
      case .runBegan where place > 0: return "event \(recorded.number) starts the run again"
      case .wavePlanned(planned, _, _): planned += 1
      case .wavePlanned: return "event \(recorded.number) plans a wave out of order"
      default: break
      }
      guard event.waves.allSatisfy((0..<planned).contains) else {
        return "event \(recorded.number) refers to a wave that was not planned"
      }
      guard event.counts.allSatisfy((0...countMaximum).contains) else {
        return "event \(recorded.number) contains a number out of range"
      }
    }
    return nil
  }
}

extension FleetEvent {
  /// The indexes of the planned waves that the event refers to.
  fileprivate var waves: [Int] {
    switch self {
    case .waveBegan(let wave), .waveSoaking(let wave, _), .waveJudged(let wave, _),
      .approvalAwaited(let wave), .waveApproved(let wave), .waveHookBegan(let wave, _),
      .waveHookEnded(let wave, _, _), .runPaused(because: .inconclusive(let wave)),
      .runPaused(because: .hook(let wave, _, _)), .runPaused(because: .failureLimit(let wave)),
      .runEnded(.stopped(let wave)):
      [wave]
    case .runBegan, .wavePlanned, .devicePublished, .deviceClaimed, .devicePlaced,
      .deviceActivating, .claimExpired, .attemptEnded, .deviceDeferred, .deviceSettled,
      .deviceRetried, .deviceHookEnded, .transferBegan, .deviceNotInRange, .outcomeReportedLate,
      .operatorActed, .runPaused, .runResumed, .runCancelled,
      .runEnded:
      []
    }
  }

  /// The counts that sums and shares use.
  fileprivate var counts: [Int] {
    switch self {
    case .runBegan(let beginning): beginning.counts
    case .devicePublished(_, let attempt, _), .deviceClaimed(_, let attempt, _),
      .devicePlaced(_, let attempt, _), .deviceActivating(_, let attempt),
      .claimExpired(_, let attempt), .deviceHookEnded(_, let attempt, _, _),
      .deviceNotInRange(_, let attempt, _):
      [attempt]
    case .transferBegan(_, let attempt, let offset): [attempt, offset]
    case .outcomeReportedLate(_, let attempt, _, .updated(let figures)):
      [attempt] + figures.counts
    case .outcomeReportedLate(_, let attempt, _, _): [attempt]
    case .attemptEnded(_, let attempt, .updated(let figures)): [attempt] + figures.counts
    case .attemptEnded(_, let attempt, _): [attempt]
    case .waveJudged(_, .stop(let failures, let size)): [failures, size]
    case .waveJudged(_, .inconclusive(let seen, let size)): [seen, size]
    case .runPaused(because: .infrastructure(let failures, _)): [failures]
    case .runEnded(.complete(let failed)): [failed]
    case .wavePlanned, .waveHookBegan, .waveHookEnded, .waveBegan, .waveSoaking, .waveJudged,
      .approvalAwaited, .waveApproved, .deviceDeferred, .deviceSettled, .deviceRetried,
      .operatorActed, .runPaused, .runResumed, .runCancelled, .runEnded:
      []
    }
  }
}

extension RunBeginning {
  fileprivate var counts: [Int] {
    [devices, waves] + (images ?? []).compactMap(\.size)
      + (waveRules ?? []).flatMap { rule in
        let stop =
          switch rule.thresholds.stop {
          case .count(let count), .percent(let count): count
          }
        return [
          stop, rule.thresholds.successPercent, rule.thresholds.seenPercent,
          Int(rule.soakMilliseconds),
        ]
      }
  }
}

extension UpdateFigures {
  fileprivate var counts: [Int] {
    [bytes, Int(uploadMilliseconds), resumes, made ?? 0]
  }
}
