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
    /// Devices whose pairing on the present link was reported.
    var reported: Set<BluetoothAddress> = []
    /// When a device was refused that asked for a pairing which nothing here required.
    var refused: [BluetoothAddress: LinkInstant] = [:]
    /// Links in a row that a device has ended soon after it was refused.
    var departures: [BluetoothAddress: Int] = [:]
    /// A device ends its links where it is refused: its requests are requirements.
    var deviceInsists = false
  }

  /// Within this time after a refusal, the end of the link is the device's answer.
  private static let insistenceLimit = Duration.seconds(2)
  /// One link may end so by chance, as when the device restarts for its new image.
  private static let departuresOfInsistence = 2

  /// When pairings leave keys behind.
  public enum Bonding: Sendable {
    /// Where this side secures a link, as an attribute or the user requires it. A device that asks
    /// for security by itself, and does without, leaves no keys that could block a later link.
    case whenRequired
    /// Always: for a peripheral, and where the user asked for a pairing.
    case always
  }

  /// A pairing that was made.
  public struct Pairing: Equatable, Sendable {
    /// The device's identity address.
    public let device: BluetoothAddress
    /// A passkey or a comparison of numbers protects it; "Just Works" does not.
    public let isAuthenticated: Bool
    /// The keys are there for the next link.
    public let isKept: Bool
  }

  /// How an attempt to secure a link ended badly.
  enum PairingEnd: Equatable, Sendable {
    case failed(MgmtStatus)
    case disconnected(PairingEvent.DisconnectReason)
  }

  private let adapter: UInt16
  /// Whether new pairings are made, or only the keys of earlier ones used.
  let makesBonds: Bool
  private let bonding: Bonding
  private let user: PairingUser
  private let paired: @Sendable (Pairing) -> Void
  private let bonds: @Sendable (BluetoothAddress) -> [Bond]
  private let keep: @Sendable (Bond, BluetoothAddress) -> Void
  private let open: @Sendable () throws(MgmtFault) -> MgmtSession
  private let isDaemonRunning: @Sendable () -> Bool
  let state = Mutex(State())

  /// - Parameters:
  ///   - adapter: the adapter's number; `hci0` is 0.
  ///   - makesBonds: `false` uses the keys of earlier pairings only.
  ///   - bonding: when new pairings leave keys behind.
  ///   - user: who answers the kernel's questions.
  ///   - bonds: the pairings of an adapter, by its own address.
  ///   - keep: gets a new bond, or one that has grown by a key, with the adapter's own address.
  ///   - paired: is called once for each pairing that is made. It must return soon.
  public convenience init(
    adapter: UInt16, makesBonds: Bool, bonding: Bonding = .whenRequired, user: PairingUser,
    bonds: @escaping @Sendable (BluetoothAddress) -> [Bond],
    keep: @escaping @Sendable (Bond, BluetoothAddress) -> Void,
    paired: @escaping @Sendable (Pairing) -> Void = { _ in }
  ) {
    self.init(
      adapter: adapter, makesBonds: makesBonds, bonding: bonding, user: user, bonds: bonds,
      keep: keep, paired: paired,
      open: { () throws(MgmtFault) in try MgmtSession() },
      isDaemonRunning: { ProcessFile.isRunning("bluetoothd") })
  }

  init(
    adapter: UInt16, makesBonds: Bool, bonding: Bonding, user: PairingUser,
    bonds: @escaping @Sendable (BluetoothAddress) -> [Bond],
    keep: @escaping @Sendable (Bond, BluetoothAddress) -> Void,
    paired: @escaping @Sendable (Pairing) -> Void,
    open: @escaping @Sendable () throws(MgmtFault) -> MgmtSession,
    isDaemonRunning: @escaping @Sendable () -> Bool
  ) {
    self.adapter = adapter
    self.makesBonds = makesBonds
    self.bonding = bonding
    self.user = user
    self.paired = paired
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
    let isBondable = information.current.contains(.bondable)
    if isBondable != (bonding == .always) {
      try await session.perform(.setBondable(!isBondable), index: adapter)
    }
    if !isBondable || bonding == .whenRequired { former.append(.setBondable(isBondable)) }
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
    note(event, session)
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

  /// Reports a new pairing once, though it may leave two keys; and notices a device that leaves
  /// because nothing was left of its request to pair.
  private func note(_ event: PairingEvent, _ session: MgmtSession) {
    switch event {
    case .newLongTermKey(let key, let isToBeKept):
      let isNew = state.withLock { $0.reported.insert(key.device).inserted }
      guard isNew else { return }
      paired(
        Pairing(
          device: key.device, isAuthenticated: key.isAuthenticated,
          isKept: isToBeKept && key.kind != .debug))
    case .authenticationFailed(let device, _):
      state.withLock { if $0.waiting[device] == nil { $0.refused[device] = EventLoop.shared.now } }
    case .disconnected(let device, let reason):
      let insists = state.withLock { state -> Bool in
        state.reported.remove(state.ledger.identity(of: device))
        guard let refused = state.refused.removeValue(forKey: device), reason == .byDevice,
          refused.duration(to: EventLoop.shared.now) < Self.insistenceLimit
        else {
          state.departures[device] = nil
          return false
        }
        state.departures[device, default: 0] += 1
        guard state.departures[device] == Self.departuresOfInsistence else { return false }
        state.deviceInsists = true
        return true
      }
      if insists { setBondable(session) }
    case .newIdentityResolvingKey, .confirmationRequest, .passkeyRequest, .passkeyNotification:
      break
    }
  }

  /// Lets pairings leave keys behind while something here requires one. The kernel has carried the
  /// command out when this returns.
  private func setBondable(_ session: MgmtSession) {
    guard bonding == .whenRequired, makesBonds else { return }
    let isRequired = state.withLock { $0.deviceInsists || !$0.waiting.isEmpty }
    _ = session.post(.setBondable(isRequired), index: adapter)
  }

  /// Whom to tell when securing the link to a device has failed; `nil` = nobody any more.
  func wait(for device: BluetoothAddress, _ end: OneShot<PairingEnd>?) {
    let standing = state.withLock { state in
      state.waiting[device] = end
      return state.standing
    }
    if case .serving(let session, _) = standing { setBondable(session) }
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
