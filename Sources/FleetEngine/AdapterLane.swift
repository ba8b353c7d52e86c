import OtaflashATT
import OtaflashFleet
import OtaflashGATT
import OtaflashUpdate
import Synchronization

/// What runs on one adapter: connections are made one at a time, transfers side by side, as many as
/// were found to be worth it.
///
/// The kernel makes one connection at a time on an adapter, and one that waits blocks the others
/// (bluepy issue 57). So they queue here; and who waits for a device that does not advertise gives
/// his turn up, after a second, to those who wait behind him.
final class AdapterLane: Sendable {
  /// Controllers with more links are rare, and none is known to gain from them.
  static let linksMaximum = 16
  /// Attempts that may wait to connect: those of all links, and their reconnections.
  private static let connectingMaximum = 4 * linksMaximum

  /// No shorter, so that a device that advertises every second is heard in its turn.
  private static let turn = Duration.seconds(1)
  private static let turnsMaximum = 20

  /// How long nothing is begun on an adapter that failed. One that is there and fails at once is
  /// always free, and would be given every device.
  private static let rest = Duration.seconds(10)

  private struct State {
    var learner: ParallelismLearner
    var busy = 0
    /// When that last changed.
    var since: LinkInstant
    /// The time of all places that were taken in the sample, together.
    var occupied = Duration.zero
    var bytes = 0
    var losses = 0
    /// It failed, and nothing is begun on it before.
    var restsUntil: LinkInstant?

    mutating func change(_ difference: Int, at now: LinkInstant) {
      occupied += since.duration(to: now) * busy
      since = now
      busy += difference
    }
  }

  /// A sample in which less of the places' time was taken says nothing about their number.
  private static let occupancyMinimum = 0.7

  let adapter: String
  /// Fixed by the campaign; `nil` = learned.
  private let fixed: Int?
  private let clock: any LinkClock
  private let gate = SerialGate(waitersMaximum: AdapterLane.connectingMaximum)
  private let state: Mutex<State>

  init(adapter: String, fixed: Int?, clock: any LinkClock) {
    self.adapter = adapter
    self.fixed = fixed
    self.clock = clock
    state = Mutex(
      State(learner: ParallelismLearner(maximum: Self.linksMaximum), since: clock.now))
  }

  var load: AdapterLoad {
    state.withLock {
      let isResting = $0.restsUntil.map { clock.now < $0 } ?? false
      return AdapterLoad(
        id: adapter, busy: $0.busy, places: isResting ? 0 : fixed ?? $0.learner.limit)
    }
  }

  /// The adapter could not be used.
  func failed() { state.withLock { $0.restsUntil = clock.now.advanced(by: Self.rest) } }

  /// It is there again.
  func returned() { state.withLock { $0.restsUntil = nil } }

  func reserve() { state.withLock { $0.change(1, at: clock.now) } }

  func free() { state.withLock { $0.change(-1, at: clock.now) } }

  func acknowledged(_ bytes: Int) { state.withLock { $0.bytes += bytes } }

  func lostLink() { state.withLock { $0.losses += 1 } }

  /// Ends a sample.
  func sample(took duration: Duration) {
    state.withLock { state in
      state.change(0, at: clock.now)
      defer { (state.bytes, state.losses, state.occupied) = (0, 0, .zero) }
      let occupancy = state.occupied / (duration * state.learner.limit)
      guard occupancy >= Self.occupancyMinimum, state.bytes > 0 || state.losses > 0 else { return }
      // As if all places had been taken for all of the time.
      let seconds = Double(duration.wholeMilliseconds) / 1000 * min(occupancy, 1)
      state.learner.sampled(rate: Double(state.bytes) / seconds, losses: state.losses)
    }
  }

  private enum Part: Sendable {
    case connected(Result<any Link, ConnectFault>)
    case othersWait
  }

  /// Connects when its turn comes.
  ///
  /// - Parameter connect: has a time limit of its own, which counts its own turns alone.
  func connecting(
    _ connect: @escaping @Sendable () async throws(ConnectFault) -> any Link
  ) async throws(ConnectFault) -> any Link {
    for _ in 0..<Self.turnsMaximum {
      switch await gate.enter() {
      case .entered: break
      case .cancelled, .closed: throw .cancelled
      case .full: preconditionFailure("no more connect than there are places")
      }
      defer { gate.leave() }
      if let result = await inTurn(connect) { return try result.get() }
    }
    throw .deviceNotFound(
      cause: "The device did not advertise in \(Self.turnsMaximum) turns of \(Self.turn).",
      remedy: .comeCloser)
  }

  /// `nil` when others wait, and this one has had its turn.
  private func inTurn(
    _ connect: @escaping @Sendable () async throws(ConnectFault) -> any Link
  ) async -> Result<any Link, ConnectFault>? {
    await withTaskGroup(of: Part.self) { group in
      group.addTask {
        do throws(ConnectFault) { return .connected(.success(try await connect())) } catch {
          return .connected(.failure(error))
        }
      }
      group.addTask {
        while await self.clock.pause(for: Self.turn), self.gate.waitingCount == 0 {}
        return .othersWait
      }
      var gaveUp = false
      for await part in group {
        group.cancelAll()
        switch part {
        case .othersWait: gaveUp = !Task.isCancelled
        case .connected(.failure(.cancelled)) where gaveUp: return nil
        case .connected(let result): return result
        }
      }
      return nil
    }
  }
}

/// Tells a lane what one transfer on it does.
final class LinkMeter: Sendable {
  private let lane: AdapterLane
  private let acknowledged = Mutex(0)

  init(lane: AdapterLane) { self.lane = lane }

  func observe(_ event: UpdateEvent) {
    switch event {
    case .transferBegan(let offset, _, _): acknowledged.withLock { $0 = offset }
    case .progress(let count, _):
      let gained = acknowledged.withLock { before in
        defer { before = max(before, count) }
        return max(count - before, 0)
      }
      lane.acknowledged(gained)
    case .linkLost: lane.lostLink()
    default: break
    }
  }
}
