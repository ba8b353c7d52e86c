import OtaflashATT
import OtaflashGATT
import Synchronization

/// Measures where the time of an upload goes. One task adds to it: the upload's own.
final class TransferMeter: Sendable {
  enum Cause { case device, flash, transport, response }

  /// A wait that has begun.
  struct Wait {
    fileprivate let clock: any LinkClock
    fileprivate let start: LinkInstant
  }

  private let state = Mutex((waits: TransferWaits(), firstWrite: LinkInstant?.none))
  private let roundTrip: @Sendable (Duration) -> Void

  /// - Parameter roundTrip: told the time from each Write Request to its response.
  init(roundTrip: @escaping @Sendable (Duration) -> Void) { self.roundTrip = roundTrip }

  var waits: TransferWaits { state.withLock { $0.waits } }

  /// When the first data write was about to be handed over.
  var firstWrite: LinkInstant? { state.withLock { $0.firstWrite } }

  /// A data write is about to be handed over.
  func beginWriting(_ clock: any LinkClock) {
    state.withLock { state in
      if state.firstWrite == nil { state.firstWrite = clock.now }
    }
  }

  func begin(_ clock: any LinkClock) -> Wait { Wait(clock: clock, start: clock.now) }

  func waited(_ wait: Wait, for cause: Cause) {
    let time = wait.start.duration(to: wait.clock.now)
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

  /// A Write Request was answered for which nobody waited.
  func answered(_ wait: Wait) { roundTrip(wait.start.duration(to: wait.clock.now)) }
}
