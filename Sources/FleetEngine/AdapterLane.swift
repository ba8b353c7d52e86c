import OtaflashATT
import OtaflashFleet
import OtaflashGATT
import OtaflashUpdate
import Synchronization

/// The connections and transfers of one adapter. Connections are established one at a time; as many
/// transfers run concurrently as increase throughput.
///
/// The kernel establishes one connection at a time on an adapter, and a pending connection blocks
/// the other connections (bluepy issue 57), so connections wait in a queue here. A connection
/// attempt to a device that does not advertise is suspended after a second if other connections
/// wait.
final class AdapterLane: Sendable {
  /// The maximum number of links. Controllers with more links are rare, and more links are not
  /// known to increase throughput.
  static let linksMaximum = 16
  /// The maximum number of waiting connections: the connections of all links, and their
  /// reconnections.
  private static let connectingMaximum = 4 * linksMaximum

  /// The length of a turn: long enough to discover a device that advertises every second.
  private static let turn = Duration.seconds(1)
  private static let turnsMaximum = 20

  /// The time for which no device is assigned to a failed adapter; it ends early if the adapter is
  /// removed and added again. An adapter that fails immediately always has room, and would
  /// otherwise be assigned every device.
  private static let rest = Duration.seconds(10)

  private struct State {
    var learner: ParallelismLearner
    var busy = 0
    /// The time of the last change of `busy`.
    var since: LinkInstant
    /// The sum of the durations of all transfers in the sample.
    var occupied = Duration.zero
    var bytes = 0
    var losses = 0
    /// The end of the pause after a failure.
    var restsUntil: LinkInstant?

    mutating func change(_ difference: Int, at now: LinkInstant) {
      occupied += since.duration(to: now) * busy
      since = now
      busy += difference
    }
  }

  /// The minimum share of the permitted places that transfers occupied, on average, in a valid
  /// sample.
  private static let occupancyMinimum = 0.7

  let adapter: String
  /// The number of concurrent transfers that the campaign specifies; `nil` = automatic.
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

  /// Starts a pause after the adapter failed.
  func failed() { state.withLock { $0.restsUntil = clock.now.advanced(by: Self.rest) } }

  /// Ends the pause after the adapter returned.
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
      // The rate is scaled to full occupancy of all places.
      let seconds = Double(duration.wholeMilliseconds) / 1000 * min(occupancy, 1)
      state.learner.sampled(rate: Double(state.bytes) / seconds, losses: state.losses)
    }
  }

  private enum Part: Sendable {
    case connected(Result<any Link, ConnectFault>)
    case othersWait
  }

  /// Connects when no other connection attempt is in progress.
  ///
  /// - Parameter connect: establishes the connection. It is called again in each turn, so its time
  ///   limit does not include the time in the queue.
  func connecting(
    _ connect: @escaping @Sendable () async throws(ConnectFault) -> any Link
  ) async throws(ConnectFault) -> any Link {
    for _ in 0..<Self.turnsMaximum {
      switch await gate.enter() {
      case .entered: break
      case .cancelled, .closed: throw .cancelled
      case .full: preconditionFailure("more connections than places")
      }
      defer { gate.leave() }
      if let result = await inTurn(connect) { return try result.get() }
    }
    throw .deviceNotFound(
      cause: "The device did not advertise in \(Self.turnsMaximum) attempts of \(Self.turn).",
      remedy: .comeCloser)
  }

  /// Tries to connect. The attempt ends after a turn, or later as soon as other connections wait;
  /// then returns `nil`.
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

/// Reports the acknowledged bytes and the lost links of one update to its lane.
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
