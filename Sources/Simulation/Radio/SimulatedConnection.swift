import OtaflashATT
import OtaflashGATT
import Synchronization

/// A connection over the modeled radio: two links and the link layer between them.
///
/// Each anchor is a whole number of intervals after the start, and every packet ends at its own
/// deadline, so time does not drift on a real clock. While neither side has data, no events are
/// processed.
///
/// The connection shares air time with other connections only if `air` is a shared radio.
package final class SimulatedConnection: Sendable {
  private struct Signals {
    let room = WakeSignal()
    let arrival = WakeSignal()
  }

  /// The anchors of the link's events, and its number at a shared radio.
  private struct Anchors {
    let start: LinkInstant
    let interval: ConnectionInterval
    /// The number of the link at a shared radio.
    let link: Int?

    func anchor(of event: Int) -> LinkInstant {
      start.advanced(by: interval.duration * event)
    }

    /// Returns the number of anchors that have passed at this time.
    func elapsed(at now: LinkInstant) -> Int {
      start.duration(to: now).wholeMicroseconds / interval.microseconds
    }
  }

  let model: RadioModel
  private let clock: any LinkClock
  private let start: LinkInstant
  private let air: SharedRadio?
  private let state: Mutex<ConnectionState>
  private let reachedSecurity = Mutex<AttributeSecurity>([])
  private let radio = WakeSignal()
  private let centralSignals = Signals()
  private let peripheralSignals = Signals()

  /// - Parameters:
  ///   - model: must pass `RadioModel.validate()`.
  ///   - clock: the clock of both ends.
  ///   - random: the random generator for packet losses.
  ///   - cutAfterPDUs: the radio stops after this number of PDUs in both directions together.
  ///   - air: the shared radio of the central's links; `nil` = no sharing.
  package init(
    model: RadioModel, clock: any LinkClock, random: SeededRandom, cutAfterPDUs: Int? = nil,
    air: SharedRadio? = nil
  ) throws(RadioModelFault) {
    try model.validate()
    self.model = model
    self.clock = clock
    self.air = air
    start = clock.now
    state = Mutex(ConnectionState(model: model, random: random, cutAfterPDUs: cutAfterPDUs))
  }

  package var central: SimulatedLink { SimulatedLink(connection: self, role: .central) }
  package var peripheral: SimulatedLink { SimulatedLink(connection: self, role: .peripheral) }

  /// The number of connection events of the encryption start procedure (Core 5.4, Vol 6, Part B,
  /// 5.1.3.1).
  private static let encryptionEvents = 4

  /// The security that the connection has reached.
  var security: AttributeSecurity { reachedSecurity.withLock { $0 } }

  func secure(_ wanted: AttributeSecurity) async throws(SecurityFault) {
    guard await clock.pause(for: model.interval.duration * Self.encryptionEvents) else {
      throw .cancelled
    }
    reachedSecurity.withLock { $0.formUnion(wanted) }
    if wanted.contains(.encryption) { state.withLock { $0.encrypt() } }
  }

  /// The number of PDUs that have arrived, in both directions together.
  package var pdusDelivered: Int { state.withLock { $0.pdusDelivered } }

  /// Drives the link layer until both sides have detected the end of the link. If the task is
  /// cancelled, both sides immediately detect a supervision timeout.
  package func run() async {
    let anchors = joinRadio()
    defer { if let link = anchors.link { air?.leave(link) } }
    var event = 0
    while !Task.isCancelled {
      let situation = state.withLock { $0.situation }
      note(situation, anchors)
      switch situation {
      case .over: return
      case .idle:
        await radio.wait()
        event = max(event, anchors.elapsed(at: clock.now))
      case .dataWaits:
        // Events that were missed because the process ran late are not repeated.
        event = max(event + 1, isInRealTime ? anchors.elapsed(at: clock.now) : 0)
        await exchange(event, anchors)
      case .closing:
        event = max(event, anchors.elapsed(at: clock.now)) + 1
        await clock.pause(until: anchors.anchor(of: event))
        endBoth(with: .closedByPeer)
      case .silent(let since):
        await clock.pause(until: since.advanced(by: model.supervisionTimeout))
        endBoth(with: .supervisionTimeout)
      }
    }
    endBoth(with: .supervisionTimeout)
  }

  private func joinRadio() -> Anchors {
    guard let air else { return Anchors(start: start, interval: model.interval, link: nil) }
    let seat = air.join(self, at: clock.now.elapsed.wholeMicroseconds)
    // The first anchor is the anchor of event 1.
    let start = LinkInstant(
      elapsed: .microseconds(seat.anchor - model.interval.microseconds))
    return Anchors(start: start, interval: model.interval, link: seat.link)
  }

  private func note(_ situation: ConnectionState.Situation, _ anchors: Anchors) {
    guard let link = anchors.link else { return }
    if case .dataWaits = situation {
      air?.note(link, hasData: true)
    } else {
      air?.note(link, hasData: false)
    }
  }

  /// The maximum lateness of a timer on a real clock, in microseconds, for which an event
  /// compensates.
  private static let latenessMaximum = 1000

  /// Whether the clock is not accelerated. An accelerated clock is always later than its deadlines,
  /// but no simulated time is lost by this.
  private var isInRealTime: Bool { clock.minimumResolution <= .nanoseconds(1) }

  /// Performs one connection event.
  private func exchange(_ event: Int, _ anchors: Anchors) async {
    let anchor = anchors.anchor(of: event)
    guard await clock.pause(until: anchor) else { return }
    state.withLock { $0.beginEvent() }
    let pairsMaximum = pairsPerEventMaximum
    var elapsed = self.elapsed(since: anchor, planned: 0)
    var pairs = 0
    while let pair = state.withLock({
      $0.nextPair(elapsedMicroseconds: elapsed, pairs: pairs, pairsMaximum: pairsMaximum)
    }) {
      let isFirst = pairs == 0
      guard let taken = claim(pair, after: elapsed, at: anchor, anchors.link, isFirst: isFirst)
      else { return }
      elapsed += taken
      let end = anchor.advanced(by: .microseconds(elapsed))
      guard await clock.pause(until: end) else { return }
      let goesOn = state.withLock { $0.complete(pair, at: end) }
      signalHosts()
      guard goesOn else { return }
      // The hosts react during this gap.
      elapsed += PHY.interframeSpaceMicroseconds
      pairs += 1
      guard await clock.pause(until: anchor.advanced(by: .microseconds(elapsed))) else { return }
      elapsed = self.elapsed(since: anchor, planned: elapsed)
    }
  }

  /// Returns the elapsed time of the event in microseconds. Time that was lost because the process
  /// ran late is not recovered by sending faster than the air permits.
  private func elapsed(since anchor: LinkInstant, planned: Int) -> Int {
    let elapsed = anchor.duration(to: clock.now).wholeMicroseconds
    return isInRealTime && elapsed - planned > Self.latenessMaximum ? elapsed : planned
  }

  private var pairsPerEventMaximum: Int {
    guard let air, let buffers = model.controllerBuffers else { return model.pairsPerEventMaximum }
    return min(model.pairsPerEventMaximum, air.share(of: buffers))
  }

  /// Reserves the time for the pair; returns `nil` if other links do not leave enough time.
  private func claim(
    _ pair: ConnectionState.PacketPair, after elapsed: Int, at anchor: LinkInstant, _ link: Int?,
    isFirst: Bool
  ) -> Int? {
    guard let air, let link else { return pair.microseconds }
    let anchor = anchor.elapsed.wholeMicroseconds
    return air.claim(
      link, from: anchor + elapsed, microseconds: pair.microseconds,
      latest: anchor + model.usableEventMicroseconds, isFirst: isFirst)
  }
}

// MARK: - The end of a link

extension SimulatedConnection {
  /// Stops the radio, as if one side moved out of range: both sides detect it after the supervision
  /// timeout.
  func cut() {
    state.withLock { $0.fallSilent(at: clock.now) }
    radio.signal()
  }

  /// Removes one side (power loss, reset, an unplugged adapter). The removed side detects `loss`
  /// immediately; its peer detects a supervision timeout.
  func vanish(_ role: ConnectionRole, with loss: LinkLoss) {
    state.withLock {
      $0.end(role, with: loss)
      $0.fallSilent(at: clock.now)
    }
    radio.signal()
    signalHosts()
  }

  func end(_ role: ConnectionRole, with loss: LinkLoss) {
    state.withLock { $0.end(role, with: loss) }
    radio.signal()
    signalHosts()
  }

  private func endBoth(with loss: LinkLoss) {
    state.withLock {
      $0.end(.central, with: loss)
      $0.end(.peripheral, with: loss)
    }
    signalHosts()
  }

  private func signalHosts() {
    for signals in [centralSignals, peripheralSignals] {
      signals.room.signal()
      signals.arrival.signal()
    }
  }
}

// MARK: - For the links

extension SimulatedConnection {
  func submit(_ pdu: [UInt8], from role: ConnectionRole) -> ConnectionState.Submission {
    let submission = state.withLock { $0.submit(pdu, from: role) }
    if case .accepted = submission { radio.signal() }
    return submission
  }

  func takeReceived(by role: ConnectionRole) -> ConnectionState.Reception {
    state.withLock { $0.takeReceived(by: role) }
  }

  func roomInQueue(of role: ConnectionRole) async { await signals(of: role).room.wait() }

  func arrival(at role: ConnectionRole) async { await signals(of: role).arrival.wait() }

  private func signals(of role: ConnectionRole) -> Signals {
    role == .central ? centralSignals : peripheralSignals
  }
}
