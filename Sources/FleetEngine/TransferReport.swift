import OtaflashATT
import OtaflashFleet
import OtaflashGATT
import OtaflashUpdate
import Synchronization

/// The reports of the transfer of one attempt: the offset at which it started, as a fact, and its
/// progress, which may be lost.
final class TransferReport: Sendable {
  private static let progressInterval = Duration.seconds(1)

  private enum Start {
    case none, reported
    case unreported(offset: Int)
  }

  private struct State {
    var start = Start.none
    var lastProgress: LinkInstant?
  }

  private let claim: JobClaim
  private let exchange: any JobExchange
  private let clock: any LinkClock
  private let state = Mutex(State())

  init(_ claim: JobClaim, exchange: any JobExchange, clock: any LinkClock) {
    self.claim = claim
    self.exchange = exchange
    self.clock = clock
  }

  func observe(_ event: UpdateEvent) {
    switch event {
    case .transferBegan(let offset, _, _):
      // Later starts continue the same transfer.
      state.withLock { if case .none = $0.start { $0.start = .unreported(offset: offset) } }
    case .progress(let bytes, let total):
      let now = clock.now
      let isDue = state.withLock { state in
        if let last = state.lastProgress, last.duration(to: now) < Self.progressInterval {
          return false
        }
        state.lastProgress = now
        return true
      }
      guard isDue else { return }
      exchange.progress(claim, JobProgress(job: claim.job.id, bytes: bytes, total: total))
    default: break
    }
  }

  /// Reports the start of the transfer, if it was not reported yet. The caller reports another fact
  /// afterwards, and both facts are recorded together.
  func report() async throws(ExchangeFault) {
    guard case .unreported(let offset) = state.withLock({ $0.start }) else { return }
    let id = claim.job.id
    do throws(ExchangeFault) {
      try await exchange.report(
        claim, .transferBegan(device: id.device, attempt: id.attempt, offset: offset))
    } catch .claimLost {
      // The outcome of the attempt is reported nevertheless.
    } catch {
      throw error
    }
    state.withLock { $0.start = .reported }
  }
}
