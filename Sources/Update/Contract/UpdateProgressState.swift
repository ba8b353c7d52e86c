import OtaflashFirmware
import Synchronization

/// The progress of an update over all its connections, which the life cycle and the sessions share.
final class UpdateProgressState: Sendable {
  struct Counts: Equatable, Sendable {
    /// The offset that the device acknowledged last, or the start offset of the current transfer.
    var acknowledged = 0
    /// The number of acknowledged bytes that the device certainly holds; reported as the offset
    /// after an interruption.
    var held = 0
    var bytesSent = 0
    /// Whether the device keeps acknowledged bytes after the end of a connection.
    var keepsProgress = false
    var resumes = 0
    var uploadTook = Duration.zero
    var verifyTook = Duration.zero
    /// The time spent announcing the images, during which a device may erase its flash.
    var prepareTook = Duration.zero
    /// The flow of the last upload, if its protocol measures it.
    var flow: TransferFlow?
    /// The hardware id that the device reported first.
    var hardware: HardwareID?
    /// The last reported delivery; `nil` if none was reported.
    var delivery: DeliveryReport?
    /// The lowest start offset of all uploads so far; `nil` before the first upload.
    var began: Int?

    /// Whether the update confirmed an image that was already on trial.
    var confirmedTrial = false

    /// Whether the device keeps some bytes, perhaps only a partial page, for the next connection.
    var isKept: Bool { keepsProgress && acknowledged > 0 }
  }

  private struct State: Sendable {
    var counts = Counts()
    var hasConnected = false
    /// The total size in bytes of the images whose transfers started on this connection.
    var passed = 0
    /// The highest start offset of a transfer, and whether it has risen since the last check.
    var furthest = 0
    var isFurther = false
    var hasActivated = false
    /// The images of a requested restart with unknown outcome.
    var restarting: [FirmwareImage]?
    var chosen: ChosenProtocol?
    var left: DeliveryObstacle?
    var restart: String?
  }

  private let state = Mutex(State())

  /// The protocol that the first connection chose. Later connections use the same protocol, because
  /// a restarted device may offer no update service.
  var chosen: ChosenProtocol? { state.withLock { $0.chosen } }

  /// Whether the device was connected before, so that silence counts as a loss.
  var wasConnected: Bool { state.withLock { $0.hasConnected } }

  /// Whether the next device that answers may run the new application.
  var hasActivated: Bool { state.withLock { $0.hasActivated } }

  var now: Counts { state.withLock { $0.counts } }

  func connected() {
    state.withLock {
      $0.hasConnected = true
      $0.passed = 0
    }
  }

  /// Prepares for a transfer of other content, or of the same content from its first byte.
  func startOver() {
    state.withLock {
      $0.furthest = 0
      $0.passed = 0
    }
  }

  /// Returns whether, since the last call, a transfer started at a higher offset than all earlier
  /// transfers, which means that the device has kept the progress of an earlier connection.
  func takeProgress() -> Bool {
    state.withLock { state in
      defer { state.isFurther = false }
      return state.isFurther
    }
  }

  /// The reason why the first connection left the update to the alternative protocol; `nil` if it
  /// did not, or if there is no reason to report.
  var left: DeliveryObstacle? { state.withLock { $0.left } }

  func choose(_ chosen: ChosenProtocol, left: DeliveryObstacle? = nil) {
    state.withLock { ($0.chosen, $0.left) = (chosen, left) }
  }

  func activate() { state.withLock { $0.hasActivated = true } }

  /// Records a requested restart whose outcome is not known yet.
  ///
  /// - Parameter images: the images that the restart activates; `nil` if no restart is pending.
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

  /// Records that the host restarted the device, so that the following end of the link is not
  /// reported as a loss.
  func restarted(because reason: String) { state.withLock { $0.restart = reason } }

  /// Returns the reason why the host restarted the device; `nil` if the host did not restart the
  /// device since the last call.
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

  /// Records that the transfer of an image starts.
  ///
  /// - Parameters:
  ///   - offset: the number of image bytes that the device certainly holds.
  ///   - made: the number of image bytes that the device can create from the content that it holds.
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
