import OtaflashATT
import OtaflashGATT
import Synchronization

/// What an upload waits for.
public struct TransferWaits: Equatable, Sendable {
  /// The device's window: nothing might be sent until the device had spoken.
  public var device = Duration.zero
  /// Room in the transport's queue: the air, or the system, takes no more for now.
  public var transport = Duration.zero
  /// The answers to writes with response.
  public var responses = Duration.zero
}

/// Measures where the time of an upload goes. One task adds to it: the upload's own.
final class TransferMeter: Sendable {
  enum Cause { case device, transport, response }

  /// A wait that has begun.
  struct Wait {
    fileprivate let clock: any LinkClock
    fileprivate let start: LinkInstant
  }

  private let state = Mutex(TransferWaits())
  private let roundTrip: @Sendable (Duration) -> Void

  /// - Parameter roundTrip: told the time from each Write Request to its response.
  init(roundTrip: @escaping @Sendable (Duration) -> Void) { self.roundTrip = roundTrip }

  var waits: TransferWaits { state.withLock { $0 } }

  func begin(_ clock: any LinkClock) -> Wait { Wait(clock: clock, start: clock.now) }

  func waited(_ wait: Wait, for cause: Cause) {
    let time = wait.start.duration(to: wait.clock.now)
    state.withLock { waits in
      switch cause {
      case .device: waits.device += time
      case .transport: waits.transport += time
      case .response: waits.responses += time
      }
    }
    if cause == .response { roundTrip(time) }
  }
}
