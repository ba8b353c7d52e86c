import OtaflashATT
import OtaflashGATT
import Synchronization

/// Pairing without bluetoothd: gives the kernel the keys of earlier pairings, answers what it asks
/// while devices pair, and hands on the new keys. One for an adapter; needs CAP_NET_ADMIN.
///
/// `start` comes before the first connection, because the kernel notes what this side can show and
/// ask when a link is made. Where bluetoothd runs, pairing is its business: the agent does nothing,
/// and links are secured with bluetoothd's keys and by its agent.
public final class PairingAgent: Sendable {
  /// Questions to the person at a time; the kernel asks one for each link.
  private static let questionsMaximum = 8

  enum Standing {
    case idle
    case serving(MgmtSession, puttingBack: [MgmtCommand])
    /// bluetoothd does it.
    case leftToDaemon
    case unavailable(MgmtFault)
    case stopped
  }

  struct State {
    var standing = Standing.idle
    var ledger = PairingLedger()
    var address: BluetoothAddress?
    var questions = 0
    /// Those who wait to learn why a link's security was not raised.
    var waiting: [BluetoothAddress: OneShot<PairingEnd>] = [:]
  }

  /// How an attempt to secure a link ended badly.
  enum PairingEnd: Equatable, Sendable {
    case failed(MgmtStatus)
    case disconnected(PairingEvent.DisconnectReason)
  }

  private let adapter: UInt16
  /// Whether new pairings are made, or only the keys of earlier ones used.
  let makesBonds: Bool
  private let user: PairingUser
  private let bonds: @Sendable (BluetoothAddress) -> [Bond]
  private let keep: @Sendable (Bond, BluetoothAddress) -> Void
  private let open: @Sendable () throws(MgmtFault) -> MgmtSession
  private let isDaemonRunning: @Sendable () -> Bool
  let state = Mutex(State())

  /// - Parameters:
  ///   - adapter: the adapter's number; `hci0` is 0.
  ///   - makesBonds: `false` uses the keys of earlier pairings only.
  ///   - user: who answers the kernel's questions.
  ///   - bonds: the pairings of an adapter, by its own address.
  ///   - keep: gets a new bond, or one that has grown by a key, with the adapter's own address.
  public convenience init(
    adapter: UInt16, makesBonds: Bool, user: PairingUser,
    bonds: @escaping @Sendable (BluetoothAddress) -> [Bond],
    keep: @escaping @Sendable (Bond, BluetoothAddress) -> Void
  ) {
    self.init(
      adapter: adapter, makesBonds: makesBonds, user: user, bonds: bonds, keep: keep,
      open: { () throws(MgmtFault) in try MgmtSession() },
      isDaemonRunning: { ProcessFile.isRunning("bluetoothd") })
  }

  init(
    adapter: UInt16, makesBonds: Bool, user: PairingUser,
    bonds: @escaping @Sendable (BluetoothAddress) -> [Bond],
    keep: @escaping @Sendable (Bond, BluetoothAddress) -> Void,
    open: @escaping @Sendable () throws(MgmtFault) -> MgmtSession,
    isDaemonRunning: @escaping @Sendable () -> Bool
  ) {
    self.adapter = adapter
    self.makesBonds = makesBonds
    self.user = user
    self.bonds = bonds
    self.keep = keep
    self.open = open
    self.isDaemonRunning = isDaemonRunning
  }

  /// The bond with a device, made before or by now.
  public func bond(with device: BluetoothAddress) -> Bond? {
    state.withLock { $0.ledger.bond(of: device) }
  }

  /// Waits, after a link was secured, for the keys of a new pairing, which come last. `nil` when
  /// there were none within `limit`: the devices were paired before, or for this link only.
  public func newBond(
    with device: BluetoothAddress, within limit: Duration = .seconds(3)
  ) async -> Bond? {
    let step = Duration.milliseconds(50)
    let deadline = EventLoop.shared.now.advanced(by: limit)
    while EventLoop.shared.now < deadline {
      let ledger = state.withLock { $0.ledger }
      if ledger.wasPaired(device) { return ledger.bond(of: device) }
      guard await EventLoop.shared.sleep(until: EventLoop.shared.now.advanced(by: step)) else {
        return nil
      }
    }
    return nil
  }

  // MARK: Beginning and end

  /// Prepares the adapter. What stands in the way is remembered, and told to whoever wants a link
  /// secured: most links need no pairing.
  public func start() async {
    do throws(MgmtFault) {
      let session = try open()
      do throws(MgmtFault) {
        try await prepare(session)
      } catch {
        session.close()
        throw error
      }
    } catch {
      state.withLock { $0.standing = .unavailable(error) }
    }
  }

  private func prepare(_ session: MgmtSession) async throws(MgmtFault) {
    let answer = try await session.perform(.readControllerInformation, index: adapter)
    let information = try MgmtIndexList.information(answer)
    let bonds = bonds(information.address)
    state.withLock { state in
      state.address = information.address
      state.ledger = PairingLedger(bonds: bonds)
    }
    guard !isDaemonRunning() else {
      state.withLock { $0.standing = .leftToDaemon }
      session.close()
      return
    }
    // Loading replaces what the kernel holds; with nothing to load it is left alone.
    if !bonds.isEmpty {
      let identities = bonds.compactMap(\.identityResolvingKey)
      try await session.perform(.loadIdentityResolvingKeys(identities), index: adapter)
      try await session.perform(
        .loadLongTermKeys(bonds.flatMap(\.longTermKeys)), index: adapter)
    }
    let former = try await configure(session, information)
    state.withLock { $0.standing = .serving(session, puttingBack: former) }
  }

  /// Returns what puts the adapter's settings back.
  private func configure(
    _ session: MgmtSession, _ information: ControllerInformation
  ) async throws(MgmtFault) -> [MgmtCommand] {
    // What it was cannot be read; the kernel starts with this.
    var former = [MgmtCommand.setIOCapability(.noInputNoOutput)]
    try await session.perform(.setIOCapability(user.capability), index: adapter)
    if !information.current.contains(.bondable) {
      try await session.perform(.setBondable(true), index: adapter)
      former.append(.setBondable(false))
    }
    if information.supported.contains(.secureConnections),
      !information.current.contains(.secureConnections)
    {
      do throws(MgmtFault) {
        try await session.perform(.setSecureConnections(true), index: adapter)
        former.append(.setSecureConnections(false))
      } catch .refused {
        // A dual-mode adapter may want it off; legacy pairing still works.
      }
    }
    return former
  }

  /// Serves the kernel until `stop`.
  public func run() async {
    guard case .serving(let session, _) = state.withLock({ $0.standing }) else { return }
    await withDiscardingTaskGroup { group in
      do throws(MgmtFault) {
        while let packet = try await session.next(until: nil) {
          guard packet.index == adapter, case .pairing(let event) = packet.event else { continue }
          take(event, session, &group)
        }
      } catch {
        // Stopped, or the adapter went: the links tell that themselves.
      }
      group.cancelAll()
    }
  }

  /// Puts the adapter's settings back and ends `run`. The keys stay with the kernel.
  public func stop() {
    let standing = state.withLock { state in
      defer { state.standing = .stopped }
      return state.standing
    }
    guard case .serving(let session, let former) = standing else { return }
    // Nobody can wait for the answers any more; an adapter that is gone has no settings.
    for command in former { _ = session.post(command, index: adapter) }
    session.close()
  }

  // MARK: What the kernel says

  private func take(
    _ event: PairingEvent, _ session: MgmtSession, _ group: inout DiscardingTaskGroup
  ) {
    let (bond, address) = state.withLock { ($0.ledger.take(event), $0.address) }
    if let bond, let address { keep(bond, address) }
    switch event {
    case .newLongTermKey, .newIdentityResolvingKey: break
    case .passkeyNotification(let device, let passkey): user.show(device, passkey)
    case .authenticationFailed(let device, let status): end(device, .failed(status))
    case .disconnected(let device, let reason): end(device, .disconnected(reason))
    case .confirmationRequest(let device, let value, let isHint):
      let question: PairingUser.Question = isHint ? .consent(device) : .comparison(device, value)
      ask(session, &group, refusal: .confirm(device, false)) { [user] in
        .confirm(device, await user.confirm(question))
      }
    case .passkeyRequest(let device):
      ask(session, &group, refusal: .enterPasskey(device, nil)) { [user] in
        .enterPasskey(device, await user.passkey(device))
      }
    }
  }

  private func ask(
    _ session: MgmtSession, _ group: inout DiscardingTaskGroup, refusal: MgmtCommand,
    _ answer: @escaping @Sendable () async -> MgmtCommand
  ) {
    let isTaken = state.withLock { state in
      guard makesBonds, state.questions < Self.questionsMaximum else { return false }
      state.questions += 1
      return true
    }
    guard isTaken else {
      _ = session.post(refusal, index: adapter)
      return
    }
    group.addTask { [self] in
      let command = await answer()
      state.withLock { $0.questions -= 1 }
      _ = session.post(command, index: adapter)
    }
  }

  private func end(_ device: BluetoothAddress, _ end: PairingEnd) {
    state.withLock { $0.waiting[device] }?.fulfil(end)
  }
}
