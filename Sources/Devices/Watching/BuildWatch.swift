import OtaflashGATT

/// A remark of `BuildWatch` while it waits.
package enum BuildRemark<Fault: Error>: Sendable {
  /// The file is missing (`nil`), or is being written, for longer than `BuildWatch.patience`.
  case inProgress(bytes: Int?)
  /// The build cannot be loaded, and has not changed for `BuildWatch.patience`.
  case skipped(Fault)
  /// The file was written again with the same content.
  case unchanged
}

/// Waits for the complete builds of one file. A build is complete when no process writes the file,
/// the file has not changed for `settling`, two reads returned the same bytes, and the file could
/// be loaded.
package struct BuildWatch: Sendable {
  /// The time without a change after which a file counts as written.
  package static let settling = Duration.milliseconds(100)
  /// The time after which an unfinished build is reported. A tool may write a file in several steps
  /// (link, convert, sign) with pauses between them.
  package static let patience = Duration.seconds(1)
  /// The interval at which the file is compared even without a notification.
  private static let comparison = Duration.seconds(1)

  private enum Step {
    case written([UInt8], FileStamp)
    case vanished
    /// The time limit was reached without a change.
    case quiet
    case cancelled
  }

  private let file: any WatchedFile
  private let clock: any LinkClock
  /// The last stamp that was examined; `nil` if there was no file.
  private var known: FileStamp?
  /// The content of the last build, or of the file at the start.
  private var last: [UInt8]?

  /// Starts with the current file, which does not count as a build.
  package init(_ file: any WatchedFile, clock: any LinkClock) {
    self.file = file
    self.clock = clock
    known = file.stamp()
    last = known == nil ? nil : file.content()
  }

  /// Returns the next build and the time of its last change; `nil` if the task was cancelled.
  ///
  /// - Parameters:
  ///   - remark: called while the watch waits.
  ///   - load: reads and checks the file.
  package mutating func next<Value, Fault: Error>(
    remark: (BuildRemark<Fault>) -> Void, _ load: () throws(Fault) -> Value
  ) async -> (value: Value, changed: LinkInstant)? {
    var refusal: Fault?
    while true {
      // A build that cannot be loaded is loaded again if it changes, and reported if it does not.
      let limit = refusal == nil ? nil : Self.patience - Self.settling
      switch await change(atMost: limit, { remark(.inProgress(bytes: $0)) }) {
      case .cancelled: return nil
      case .vanished: break
      case .quiet:
        if let fault = refusal.take() { remark(.skipped(fault)) }
      case .written(let content, let stamp):
        let isNew = content != last || refusal != nil
        (known, last, refusal) = (stamp, content, nil)
        guard isNew else {
          remark(.unchanged)
          continue
        }
        do throws(Fault) {
          let value = try load()
          // Otherwise the loaded bytes may be those of the next build.
          guard file.stamp() == stamp else { continue }
          return (value, clock.now.advanced(by: .zero - file.age(of: stamp)))
        } catch {
          refusal = error
        }
      }
    }
  }

  /// Waits for another stamp, then for the end of the changes.
  private func change(
    atMost limit: Duration?, _ inProgress: (Int?) -> Void
  ) async -> Step {
    let start = clock.now
    var missing: (since: LinkInstant, isReported: Bool)?
    while true {
      let stamp = file.stamp()
      if stamp != nil, stamp != known {
        let step = await settle(inProgress)
        guard case .vanished = step else { return step }
        continue
      }
      if stamp == nil, known != nil {
        let since = missing?.since ?? clock.now
        let isLate = since.duration(to: clock.now) >= Self.patience
        if isLate, missing?.isReported == false { inProgress(nil) }
        missing = (since, isLate)
      }
      let left = limit.map { $0 - start.duration(to: clock.now) }
      if let left, left <= .zero { return .quiet }
      guard await file.waitForChange(atMost: min(left ?? Self.comparison, Self.comparison)) else {
        return .cancelled
      }
    }
  }

  private func settle(_ inProgress: (Int?) -> Void) async -> Step {
    let start = clock.now
    var isReported = false
    while let stamp = file.stamp() {
      let content = file.content()
      let end = clock.now.advanced(by: Self.settling)
      while clock.now < end, file.stamp() == stamp {
        guard await file.waitForChange(atMost: clock.now.duration(to: end)) else {
          return .cancelled
        }
      }
      if file.stamp() == stamp, !file.isOpenForWriting(), let content, content == file.content() {
        return .written(content, stamp)
      }
      if !isReported, start.duration(to: clock.now) >= Self.patience {
        isReported = true
        inProgress(stamp.size)
      }
    }
    return .vanished
  }
}
