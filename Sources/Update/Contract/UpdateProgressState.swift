import OtaflashFirmware
import Synchronization

/// What an update has done so far, over all its connections: the one thing that its steps share.
final class UpdateProgressState: Sendable {
  struct Counts: Equatable, Sendable {
    /// The furthest byte that the device has acknowledged, and that the last connection began at.
    var acknowledged = 0
    /// Of these, the bytes that it has of the image for certain: what is told where a transfer was
    /// broken off.
    var held = 0
    var bytesSent = 0
    /// The device keeps what it has acknowledged over the end of a connection.
    var keepsProgress = false
    var resumes = 0
    var uploadTook = Duration.zero
    var verifyTook = Duration.zero
    /// Of announcing the images, for which a device may erase its flash.
    var prepareTook = Duration.zero
    /// Of the last upload, where its protocol measures it.
    var flow: TransferFlow?
    /// The board's, as it was told first.
    var hardware: HardwareID?
    /// What was sent last, where the device takes something else than images, too.
    var delivery: DeliveryReport?
    /// The lowest byte that an upload began at.
    var began: Int?

    /// An image that ran on trial before the update was confirmed.
    var confirmedTrial = false

    /// Something of it is still there when the next connection begins, if only a part of a page.
    var isKept: Bool { keepsProgress && acknowledged > 0 }
  }

  private struct State: Sendable {
    var counts = Counts()
    var hasConnected = false
    /// Bytes of the images whose transfers were begun on this connection.
    var passed = 0
    /// The furthest that a transfer was begun at, and whether that is news.
    var furthest = 0
    var isFurther = false
    var hasActivated = false
    /// The images of a requested restart whose outcome is not known yet.
    var restarting: [FirmwareImage]?
    var chosen: ChosenProtocol?
    var restart: String?
  }

  private let state = Mutex(State())

  /// The protocol that the first connection settled: a device that has restarted may offer none.
  var chosen: ChosenProtocol? { state.withLock { $0.chosen } }

  /// The device was reached before, so silence now is a loss.
  var wasConnected: Bool { state.withLock { $0.hasConnected } }

  /// Whoever answers from now on may be the new application.
  var hasActivated: Bool { state.withLock { $0.hasActivated } }

  var now: Counts { state.withLock { $0.counts } }

  func connected() {
    state.withLock {
      $0.hasConnected = true
      $0.passed = 0
    }
  }

  /// The next transfer sends something else, or the same from its first byte.
  func startOver() {
    state.withLock {
      $0.furthest = 0
      $0.passed = 0
    }
  }

  /// Whether a transfer was begun further on than all before it: then what a lost connection has
  /// sent was not for nothing. Told once.
  func takeProgress() -> Bool {
    state.withLock { state in
      defer { state.isFurther = false }
      return state.isFurther
    }
  }

  func choose(_ chosen: ChosenProtocol) { state.withLock { $0.chosen = chosen } }
  func activate() { state.withLock { $0.hasActivated = true } }

  /// - Parameter images: those that a requested restart makes run; `nil` when none is pending.
  func awaitRestart(of images: [FirmwareImage]?) { state.withLock { $0.restarting = images } }

  /// The fault of an update that is stopped now.
  var cancelled: UpdateFault {
    state.withLock { state in
      if let images = state.restarting {
        return .stoppedAfterActivation(by: .cancellation, expected: images.last?.version)
      }
      return .cancelled(resumable: state.counts.isKept, acknowledged: state.counts.held)
    }
  }

  /// The host has restarted the device: the loss of the link that follows is none.
  func restarted(because reason: String) { state.withLock { $0.restart = reason } }

  /// Why the host has restarted the device, if it did so since this was asked last.
  func takeRestart() -> String? {
    state.withLock { state in
      defer { state.restart = nil }
      return state.restart
    }
  }

  func acknowledge(_ offset: Int, held: Int? = nil) {
    state.withLock {
      $0.counts.acknowledged = offset
      $0.counts.held = held ?? offset
    }
  }
  func send(_ bytes: Int) { state.withLock { $0.counts.bytesSent += bytes } }

  /// The transfer of an image begins.
  ///
  /// - Parameters:
  ///   - offset: bytes that the device has of the image for certain.
  ///   - made: bytes that it can make of what it has.
  func begin(at offset: Int, making made: Int, of total: Int) {
    state.withLock { state in
      state.counts.began = min(state.counts.began ?? offset, offset)
      if state.passed + made > state.furthest {
        state.furthest = state.passed + made
        state.isFurther = true
      }
      state.passed += total
    }
  }

  func deliver(_ report: DeliveryReport) { state.withLock { $0.counts.delivery = report } }
  func confirmTrial() { state.withLock { $0.counts.confirmedTrial = true } }
  func resume() { state.withLock { $0.counts.resumes += 1 } }
  func meet(_ hardware: HardwareID?) {
    state.withLock { $0.counts.hardware = $0.counts.hardware ?? hardware }
  }
  func keepsProgress(_ keeps: Bool) { state.withLock { $0.counts.keepsProgress = keeps } }
  func flowed(_ flow: TransferFlow) { state.withLock { $0.counts.flow = flow } }
  func upload(took time: Duration) { state.withLock { $0.counts.uploadTook += time } }
  func verify(took time: Duration) { state.withLock { $0.counts.verifyTook += time } }
  func prepare(took time: Duration) { state.withLock { $0.counts.prepareTook += time } }
}
