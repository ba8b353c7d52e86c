import OtaflashATT
import OtaflashGATT
import Synchronization

/// Measures how the time of an upload is spent. Only the task of the upload adds measurements.
final class TransferMeter: Sendable {
  enum Cause { case device, flash, transport, response }

  /// A wait that has started.
  struct Wait {
    fileprivate let clock: any LinkClock
    fileprivate let start: LinkInstant

    /// The time since the start of the wait.
    var time: Duration { start.duration(to: clock.now) }
  }

  /// The minimum duration of a `TransferStretch`.
  private static let stretch = Duration.seconds(1)

  /// An upload in progress, and the start of its current stretch.
  private struct Upload {
    let mode: WriteMode
    let client: GATTClient
    var since: LinkInstant
    var sent: Int
    var waits: TransferWaits
  }

  private struct State {
    var waits = TransferWaits()
    var firstWrite: LinkInstant?
    var upload: Upload?
  }

  private let state = Mutex(State())
  private let roundTrip: @Sendable (Duration) -> Void

  /// Creates a meter without measurements.
  ///
  /// - Parameter roundTrip: receives the time from each Write Request to its response.
  init(roundTrip: @escaping @Sendable (Duration) -> Void) { self.roundTrip = roundTrip }

  var waits: TransferWaits { state.withLock { $0.waits } }

  /// The time of the first data write.
  var firstWrite: LinkInstant? { state.withLock { $0.firstWrite } }

  /// Records the time of the first data write; called immediately before each data write.
  func beginWriting(_ clock: any LinkClock) {
    state.withLock { state in
      if state.firstWrite == nil { state.firstWrite = clock.now }
    }
  }

  /// Starts an upload over a link.
  ///
  /// - Parameter sent: the number of bytes sent before this upload.
  func beginUpload(_ mode: WriteMode, over client: GATTClient, sent: Int, at now: LinkInstant) {
    state.withLock {
      $0.upload = Upload(mode: mode, client: client, since: now, sent: sent, waits: $0.waits)
    }
  }

  /// Ends the current upload. Returns its mode and link, and the waits of all uploads; `nil` if no
  /// upload is in progress.
  func endUpload() -> TransferFlow? {
    state.withLock { state in
      state.upload.take().map {
        TransferFlow(mode: $0.mode, link: LinkReport(of: $0.client), waits: state.waits)
      }
    }
  }

  /// Ends the current stretch, and starts the next. Returns `nil` without a change if the current
  /// stretch is too short, or if no upload is in progress.
  func takeStretch(sent: Int, at now: LinkInstant) -> TransferStretch? {
    state.withLock { state in
      guard var upload = state.upload, upload.since.duration(to: now) >= Self.stretch else {
        return nil
      }
      let flow = TransferFlow(
        mode: upload.mode, link: LinkReport(of: upload.client),
        waits: state.waits.since(upload.waits))
      let stretch = TransferStretch(
        flow: flow, bytesSent: sent - upload.sent, took: upload.since.duration(to: now))
      (upload.since, upload.sent, upload.waits) = (now, sent, state.waits)
      state.upload = upload
      return stretch
    }
  }

  func begin(_ clock: any LinkClock) -> Wait { Wait(clock: clock, start: clock.now) }

  func waited(_ wait: Wait, for cause: Cause) {
    waited(wait.start.duration(to: wait.clock.now), for: cause)
  }

  func waited(_ time: Duration, for cause: Cause) {
    state.withLock { state in
      switch cause {
      case .device: state.waits.device += time
      case .flash:
        state.waits.device += time
        state.waits.flash += time
      case .transport: state.waits.transport += time
      case .response: state.waits.responses += time
      }
    }
    if cause == .response { roundTrip(time) }
  }

  /// Records the response to a Write Request for which no task waited.
  func answered(_ wait: Wait) { roundTrip(wait.start.duration(to: wait.clock.now)) }
}
