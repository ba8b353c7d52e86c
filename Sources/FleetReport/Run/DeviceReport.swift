import OtaflashFirmware
import OtaflashFleet

/// What became of one device.
package struct DeviceReport: Hashable, Sendable {
  package enum Standing: Hashable, Sendable {
    case settled(DeviceEnding)
    /// Somebody works on it.
    case running
    /// For its wave, its turn or its next attempt.
    case waiting
    /// The run ended before the device was settled.
    case leftOut
  }

  package let device: RunDevice
  /// Its wave, from 0.
  package let wave: Int
  package let standing: Standing
  /// In their order. A job that nobody took is none.
  package let attempts: [AttemptRecord]
  package let settled: WallClockTime?

  init(_ progress: DeviceProgress, hasEnded: Bool) {
    device = progress.device
    wave = progress.wave
    standing =
      switch progress.phase {
      case .settled(let ending): .settled(ending)
      case .claimed: .running
      case .waiting, .published: hasEnded ? .leftOut : .waiting
      }
    attempts = progress.records
    settled = progress.settledAt
  }

  package var outcome: Outcome { Outcome(standing) }

  /// What people call it, or its id.
  package var label: String { device.name ?? device.id }

  /// What is known of the update, where one succeeded.
  package var figures: UpdateFigures? {
    attempts.lazy.reversed().compactMap { attempt -> UpdateFigures? in
      if case .updated(let figures) = attempt.ending { figures } else { nil }
    }.first
  }

  /// The version that it ran before; `nil` = unknown.
  package var from: FirmwareVersion? { figures?.from }

  /// The version that it runs, where it was told in the end.
  package var to: FirmwareVersion? {
    guard outcome == .succeeded else { return nil }
    for attempt in attempts.reversed() {
      switch attempt.ending {
      case .updated(let figures): return figures.to
      case .current(let version): return version
      case .failed, .skipped, .returned, nil: continue
      }
    }
    return nil
  }

  /// How it is known that the image runs: the proof's name, or `was-running` where it ran already.
  package var proof: String? {
    switch standing {
    case .settled(.updated): figures?.proof ?? "looked-at"
    case .settled(.current): "was-running"
    case .settled, .running, .waiting, .leftOut: nil
    }
  }

  /// Why it did not succeed.
  package var cause: FailureCause? {
    switch standing {
    case .settled(.failed(let failure)), .settled(.quarantined(let failure)): FailureCause(failure)
    case .settled(.absent): .absent
    case .settled(.skipped(let words)): .skipped(words: words)
    case .settled(.updated), .settled(.current), .running, .waiting, .leftOut: nil
    }
  }

  /// The outcome in a word or three, finer than `outcome`.
  package var outcomeWords: String {
    switch standing {
    case .settled(.current): "ran it already"
    case .settled(.quarantined): "quarantined"
    case .settled, .running, .waiting, .leftOut: outcome.words
    }
  }

  /// The adapter of its last attempt that had one.
  package var adapter: String? { attempts.last { $0.adapter != nil }?.adapter }

  /// From the first claim on.
  package var began: WallClockTime? { attempts.first?.began }
}

/// How a device is counted.
package enum Outcome: String, Hashable, Sendable, CaseIterable {
  /// It runs the image.
  case succeeded
  /// The device or its link failed.
  case failed
  /// Nobody ever heard it.
  case unseen
  /// Skipped: a hook, a condition, or a failure of this host prevented the update.
  case neutral
  case running
  case waiting
  case leftOut

  init(_ standing: DeviceReport.Standing) {
    switch standing {
    case .settled(let ending):
      switch ending.count {
      case .succeeded: self = .succeeded
      case .failed: self = .failed
      case .unseen: self = .unseen
      case .neutral: self = .neutral
      }
    case .running: self = .running
    case .waiting: self = .waiting
    case .leftOut: self = .leftOut
    }
  }

  /// In a table: a word or two.
  package var words: String {
    switch self {
    case .succeeded: "updated"
    case .failed: "failed"
    case .unseen: "never heard"
    case .neutral: "skipped"
    case .running: "in progress"
    case .waiting: "waiting"
    case .leftOut: "not done"
    }
  }
}

/// Devices by their outcome.
package struct OutcomeCounts: Hashable, Sendable {
  private var counts: [Outcome: Int] = [:]

  init(_ devices: some Sequence<DeviceReport>) {
    for device in devices { counts[device.outcome, default: 0] += 1 }
  }

  package subscript(outcome: Outcome) -> Int { counts[outcome] ?? 0 }
  package var total: Int { counts.values.reduce(0, +) }
}
