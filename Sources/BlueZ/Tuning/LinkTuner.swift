import OtaflashATT
import OtaflashGATT
import Synchronization

/// Tunes the links of an adapter. The tuner sets the kernel's parameters for new connections
/// (CAP_NET_ADMIN). If a link has other parameters nevertheless, the tuner sends requests for the
/// link to the controller (CAP_NET_RAW). The controller reports the actual parameters of the links.
/// Without these capabilities the tuner does not tune links, and reports this.
public final class LinkTuner: Sendable {
  /// The time limits for a controller.
  struct Limits: Sendable {
    /// The limit of a link-layer procedure, which needs about ten connection events; events are 50
    /// ms apart by default.
    var procedure = Duration.seconds(2)
    /// The limit of a data length change; no event reports an unchanged length.
    var length = Duration.milliseconds(300)
    /// The maximum wait for the event about a new link: the event and the kernel's response arrive
    /// over different sockets.
    var sighting = Duration.milliseconds(500)
  }

  private static let sightingStep = Duration.milliseconds(20)

  private struct State {
    var table = LinkTable()
    var socket: HCISocket?
    var session: MgmtSession?
    /// The kernel's default parameters.
    var defaults: SystemConfiguration?
    var prepared: [BluetoothAddress] = []
    var answer: (opcode: UInt16, OneShot<HCIStatus>)?
    var completion: (matches: @Sendable (HCIEvent) -> Bool, OneShot<HCIEvent>)?
  }

  private let adapter: UInt16
  private let tuning: LinkTuning?
  private let limits: Limits
  private let report: @Sendable (BluetoothAddress, [TuningStep]) -> Void
  private let openSocket: @Sendable () -> HCISocket?
  private let openSession: @Sendable () -> MgmtSession?
  private let state = Mutex(State())

  /// - Parameters:
  ///   - adapter: the adapter's number; `hci0` is 0.
  ///   - tuning: the link parameters to request; with `nil` the tuner only receives events.
  ///   - report: called with the outcome of each request, once for each link. The closure must
  ///   return quickly.
  public convenience init(
    adapter: UInt16, tuning: LinkTuning?,
    report: @escaping @Sendable (BluetoothAddress, [TuningStep]) -> Void
  ) {
    self.init(
      adapter: adapter, tuning: tuning, report: report,
      openSocket: {
        guard Capabilities.ofThisProcess?.hasNetRaw == true else { return nil }
        do throws(SystemError) { return try HCISocket(adapter: adapter) } catch { return nil }
      },
      openSession: {
        // bluetoothd has loaded parameters for its devices. Loading parameters here would delete
        // the parameters of bluetoothd.
        guard tuning != nil, !ProcessFile.isRunning("bluetoothd") else { return nil }
        do throws(MgmtFault) { return try MgmtSession() } catch { return nil }
      })
  }

  init(
    adapter: UInt16, tuning: LinkTuning?, limits: Limits = Limits(),
    report: @escaping @Sendable (BluetoothAddress, [TuningStep]) -> Void,
    openSocket: @escaping @Sendable () -> HCISocket?,
    openSession: @escaping @Sendable () -> MgmtSession?
  ) {
    self.adapter = adapter
    self.tuning = tuning
    self.limits = limits
    self.report = report
    self.openSocket = openSocket
    self.openSession = openSession
  }

  /// Returns the parameters of a link from the controller; empty if no event about the link was
  /// received.
  func facts(of handle: UInt16, to peer: BluetoothAddress) -> LinkFacts {
    entry(handle, peer)?.facts ?? LinkFacts()
  }

  private func entry(_ handle: UInt16, _ peer: BluetoothAddress) -> LinkTable.Entry? {
    state.withLock { $0.table.entry(handle, to: peer) }
  }

  // MARK: Start and stop

  /// Opens the permitted sockets. Call this function before the first connection.
  public func start() async {
    let socket = openSocket()
    state.withLock { $0.socket = socket }
    guard let session = openSession() else { return }
    do throws(MgmtFault) {
      let answer = try await session.perform(.readDefaultSystemConfiguration, index: adapter)
      let defaults = SystemConfiguration(decoding: answer)
      state.withLock { state in
        state.session = session
        state.defaults = defaults
      }
    } catch {
      // The kernel does not support the command; links are then tuned when they are connected.
      session.close()
    }
  }

  /// Receives the controller's events until `stop`.
  public func run() async {
    guard let socket = state.withLock({ $0.socket }) else { return }
    do throws(LinkLoss) {
      while true { take(try await socket.next()) }
    } catch {
      // The tuner was stopped, or the adapter was removed; the links report the removal.
    }
  }

  /// Restores the kernel's parameters for all devices passed to `prepare`, and ends `run`.
  public func stop() {
    let former = state.withLock { state -> State in
      defer { (state.socket, state.session) = (nil, nil) }
      return state
    }
    if let session = former.session {
      for device in former.prepared {
        guard let parameters = former.defaults?.parameters(for: device) else { continue }
        _ = session.post(.loadConnectionParameters([parameters]), index: adapter)
      }
      session.close()
    }
    former.socket?.close()
  }

  private func take(_ event: HCIEvent) {
    let (answer, completion) = state.withLock {
      state -> (OneShot<HCIStatus>?, OneShot<HCIEvent>?) in
      state.table.take(event)
      let completion = state.completion.flatMap { $0.matches(event) ? $0.1 : nil }
      switch event {
      case .commandComplete(let opcode, _, _), .commandStatus(let opcode, _):
        return (state.answer.flatMap { $0.opcode == opcode ? $0.1 : nil }, completion)
      default: return (nil, completion)
      }
    }
    switch event {
    case .commandComplete(_, let status, _), .commandStatus(_, let status): answer?.fulfil(status)
    default: break
    }
    completion?.fulfil(event)
  }

  // MARK: A link

  /// Sets the kernel's parameters for a connection to `device`. Call this function before each
  /// connection: if another process loads parameters for another device, the kernel drops the
  /// parameters of `device`.
  func prepare(_ device: BluetoothAddress) async {
    guard let session = state.withLock({ $0.session }),
      let parameters = tuning?.parameters(for: device)
    else { return }
    do throws(MgmtFault) {
      try await session.perform(.loadConnectionParameters([parameters]), index: adapter)
      state.withLock { state in
        if !state.prepared.contains(device) { state.prepared.append(device) }
      }
    } catch {
      // This process lacks the permission; the report then covers the requests to the controller on
      // the existing link.
    }
  }

  /// Requests the parameters that a new link lacks, and reports the outcomes.
  func tune(_ handle: UInt16, to peer: BluetoothAddress) async {
    await waitUntilSeen(handle, peer)
    guard let tuning else { return }
    var steps: [TuningStep] = []
    if let parameters = tuning.parameters(for: peer) {
      steps.append(await tuneInterval(handle, peer, parameters))
    }
    if let phy = tuning.phy { steps.append(await tunePHY(handle, peer, phy)) }
    if let payload = tuning.payload { steps.append(await tunePayload(handle, peer, payload)) }
    if !steps.isEmpty { report(peer, steps) }
  }

  private func waitUntilSeen(_ handle: UInt16, _ peer: BluetoothAddress) async {
    guard state.withLock({ $0.socket }) != nil else { return }
    let clock = EventLoopClock()
    let deadline = clock.now.advanced(by: limits.sighting)
    while entry(handle, peer) == nil, clock.now < deadline {
      guard await clock.pause(for: Self.sightingStep) else { return }
    }
  }

  private func tuneInterval(
    _ handle: UInt16, _ peer: BluetoothAddress, _ wanted: MgmtConnectionParameters
  ) async -> TuningStep {
    let (low, high) = (wanted.intervalMinimum, wanted.intervalMaximum)
    let asked =
      low == high
      ? ConnectionTiming.text(low)
      : "\(ConnectionTiming.text(low).dropLast(3))…\(ConnectionTiming.text(high))"
    var outcome = TuningStep.Outcome.granted
    if let timing = entry(handle, peer)?.timing, !timing.fits(wanted) {
      outcome = await perform(.updateConnection(handle, wanted), on: handle, peer) { event in
        if case .updated(handle, let status, _) = event { status } else { nil }
      }
    } else if entry(handle, peer) == nil {
      outcome = obstacle
    }
    let timing = entry(handle, peer)?.timing
    if case .granted = outcome, let timing, !timing.fits(wanted) {
      outcome = .refused("the link uses another interval")
    }
    return TuningStep(subject: .interval, asked: asked, outcome: outcome, now: timing?.text)
  }

  private func tunePHY(
    _ handle: UInt16, _ peer: BluetoothAddress, _ wanted: PHY
  ) async -> TuningStep {
    var outcome = TuningStep.Outcome.granted
    if entry(handle, peer)?.phy != wanted.withoutCoding {
      outcome = await perform(.setPHY(handle, wanted), on: handle, peer) { event in
        if case .phyUpdated(handle, let status, _, _) = event { status } else { nil }
      }
    }
    let now = entry(handle, peer)?.phy
    if case .granted = outcome, now != wanted.withoutCoding {
      outcome = .refused("the device uses another PHY")
    }
    return TuningStep(subject: .phy, asked: wanted.rawValue, outcome: outcome, now: now?.rawValue)
  }

  private func tunePayload(
    _ handle: UInt16, _ peer: BluetoothAddress, _ wanted: Int
  ) async -> TuningStep {
    var outcome = TuningStep.Outcome.granted
    if entry(handle, peer)?.payload.map(Int.init) != wanted {
      let isCoded = entry(handle, peer)?.phy == .coded
      let command = HCICommand.setDataLength(
        handle, bytes: UInt16(wanted), microseconds: Self.airTime(wanted, isCoded: isCoded))
      outcome = await perform(command, on: handle, peer, within: limits.length) { event in
        if case .dataLengthChanged(handle, _) = event { HCIStatus.success } else { nil }
      }
      // The controller sends no event if the length is already set, or if the device supports no
      // other length.
      if case .refused(Self.noEvent) = outcome { outcome = .granted }
    }
    let now = entry(handle, peer)?.payload.map(Int.init)
    if case .granted = outcome, now != wanted {
      outcome = .refused(
        now == nil ? "the controller reports no length" : "the device limits the length")
    }
    return TuningStep(
      subject: .payload, asked: "\(wanted) B", outcome: outcome, now: now.map { "\($0) B" })
  }

  /// Returns the maximum time of a packet with its overhead, in microseconds (Core 5.4, Vol 6, Part
  /// B, 4.5.10), at 1M or S=8.
  private static func airTime(_ payload: Int, isCoded: Bool) -> UInt16 {
    let slowest = isCoded ? PHY.codedS8 : PHY.le1M
    return UInt16(slowest.airTimeMicroseconds(payload: payload, encrypted: true))
  }

  // MARK: A command

  /// The reason why no request is possible for a link without an event about its connection.
  private var obstacle: TuningStep.Outcome {
    state.withLock { $0.socket } == nil
      ? .notPermitted
      : .refused("the link existed before this program started; it ends 2 s after its last use")
  }

  private static let noEvent = "the procedure did not end in time"

  /// Sends a command to the controller and waits for the end of its procedure. `status` returns the
  /// status if an event reports the end.
  private func perform(
    _ command: HCICommand, on handle: UInt16, _ peer: BluetoothAddress,
    within given: Duration? = nil,
    _ status: @escaping @Sendable (HCIEvent) -> HCIStatus?
  ) async -> TuningStep.Outcome {
    let limit = given ?? limits.procedure
    let answer = OneShot<HCIStatus>()
    let completion = OneShot<HCIEvent>()
    let socket = state.withLock { state -> HCISocket? in
      guard let socket = state.socket, state.table.entry(handle, to: peer) != nil else {
        return nil
      }
      state.answer = (command.opcode, answer)
      state.completion = ({ status($0) != nil }, completion)
      return socket
    }
    guard let socket else { return obstacle }
    defer { state.withLock { ($0.answer, $0.completion) = (nil, nil) } }
    let clock = EventLoopClock()
    do throws(LinkLoss) {
      try await socket.send(command, until: clock.now.advanced(by: limit))
    } catch {
      return .refused("\(error)")
    }
    guard let accepted = await Self.value(of: answer, within: limits.procedure) else {
      return .refused("the controller does not respond")
    }
    guard accepted == .success else { return .refused("\(accepted)") }
    guard let event = await Self.value(of: completion, within: limit) else {
      return .refused(Self.noEvent)
    }
    guard let ended = status(event), ended != .success else { return .granted }
    return .refused("\(ended)")
  }

  private static func value<Value: Sendable>(
    of shot: OneShot<Value>, within limit: Duration
  ) async -> Value? {
    await withTaskGroup(of: Value?.self) { group in
      group.addTask { await shot.wait() }
      group.addTask {
        await EventLoopClock().pause(for: limit)
        return nil
      }
      defer { group.cancelAll() }
      return await group.next() ?? nil
    }
  }
}

extension ConnectionTiming {
  /// Returns whether a link has the requested parameters. A longer supervision timeout is also
  /// accepted.
  func fits(_ wanted: MgmtConnectionParameters) -> Bool {
    wanted.intervalMinimum...wanted.intervalMaximum ~= interval && latency == wanted.latency
      && supervisionTimeout >= wanted.supervisionTimeout
  }
}
