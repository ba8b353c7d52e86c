import OtaflashFirmware
import OtaflashFleet

/// The result of one device.
package struct DeviceReport: Hashable, Sendable {
  package enum Standing: Hashable, Sendable {
    case settled(DeviceEnding)
    /// A worker is updating the device.
    case running
    /// The device waits for its wave, for a free adapter or for its next attempt.
    case waiting
    /// The run ended before the device reached a final outcome.
    case leftOut
  }

  package let device: RunDevice
  /// The index of the wave of the device.
  package let wave: Int
  package let standing: Standing
  /// The attempts in order. A job that no worker claimed is not an attempt.
  package let attempts: [AttemptRecord]
  package let settled: WallClockTime?

  package init(_ progress: DeviceProgress, hasEnded: Bool) {
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

  /// The name of the device, or its id.
  package var label: String { device.name ?? device.id }

  /// The figures of the update that succeeded.
  package var figures: UpdateFigures? {
    attempts.lazy.reversed().compactMap { attempt -> UpdateFigures? in
      if case .updated(let figures) = attempt.ending { figures } else { nil }
    }.first
  }

  /// The version before the update; `nil` = unknown.
  package var from: FirmwareVersion? { figures?.from }

  /// The version that the device runs, if it is known.
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

  /// The evidence that the image runs: the name of the verification; `looked-at` if a later attempt
  /// found the new image running; `was-running` if the image already ran before. `nil` = the update
  /// has not succeeded.
  package var proof: String? {
    switch standing {
    case .settled(.updated): figures?.proof ?? "looked-at"
    case .settled(.current): "was-running"
    case .settled, .running, .waiting, .leftOut: nil
    }
  }

  /// The reason why the update did not succeed.
  package var cause: FailureCause? {
    switch standing {
    case .settled(.failed(let failure)), .settled(.quarantined(let failure)): FailureCause(failure)
    case .settled(.absent): .absent
    case .settled(.skipped(let words)): .skipped(words: words)
    case .settled(.updated), .settled(.current), .running, .waiting, .leftOut: nil
    }
  }

  /// The outcome in one to three words; it is more detailed than `outcome`.
  package var outcomeWords: String {
    switch standing {
    case .settled(.current): "already updated"
    case .settled(.quarantined): "quarantined"
    case .settled, .running, .waiting, .leftOut: outcome.words
    }
  }

  /// The adapter of the last attempt that had an adapter.
  package var adapter: String? { attempts.last { $0.adapter != nil }?.adapter }

  /// The time of the first claim.
  package var began: WallClockTime? { attempts.first?.began }
}

/// The category in which a device is counted.
package enum Outcome: String, Hashable, Sendable, CaseIterable {
  /// The device runs the image.
  case succeeded
  /// The device or its link failed.
  case failed
  /// No advertisement of the device was received.
  case unseen
  /// The device was skipped: a hook, a condition, or a failure of this host prevented the update.
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

  /// One or two words for a table.
  package var words: String {
    switch self {
    case .succeeded: "updated"
    case .failed: "failed"
    case .unseen: "not found"
    case .neutral: "skipped"
    case .running: "in progress"
    case .waiting: "waiting"
    case .leftOut: "not completed"
    }
  }
}

/// Devices by their outcome.
package struct OutcomeCounts: Hashable, Sendable {
  private var counts: [Outcome: Int] = [:]

  /// Creates counts without devices.
  package init() {}

  init(_ devices: some Sequence<DeviceReport>) {
    for device in devices { count(device.outcome) }
  }

  /// Counts a device; `change` = −1 removes it.
  package mutating func count(_ outcome: Outcome, by change: Int = 1) {
    let count = self[outcome] + change
    counts[outcome] = count == 0 ? nil : count
  }

  package subscript(outcome: Outcome) -> Int { counts[outcome] ?? 0 }
  package var total: Int { counts.values.reduce(0, +) }
}
