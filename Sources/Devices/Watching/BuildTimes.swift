import OtaflashUpdate
import Synchronization

/// The times of the stages of one update that `BuildWatch` cannot shorten.
package final class BuildTimes: Sendable {
  private let times = Mutex((transfer: Duration.zero, restart: Duration.zero))

  package init() {}

  /// The time of the preparation, the upload and the verification in the device's flash.
  package var transfer: Duration { times.withLock { $0.transfer } }
  /// The time from the request to restart to the new connection.
  package var restart: Duration { times.withLock { $0.restart } }

  package func observe(_ event: UpdateEvent) {
    guard case .stageEnded(let stage, let took) = event else { return }
    switch stage {
    case .prepare, .upload, .verify: times.withLock { $0.transfer += took }
    case .activate, .reconnect: times.withLock { $0.restart += took }
    case .connect, .authorize, .detach, .confirm, .download, .request: break
    }
  }
}
