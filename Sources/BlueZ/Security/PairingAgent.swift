import OtaflashATT
import OtaflashGATT
import Synchronization

/// Pairing without bluetoothd: loads the keys of earlier pairings into the kernel, replies to the
/// requests of the kernel while devices pair, and stores the new keys. One agent per adapter; needs
/// CAP_NET_ADMIN.
///
/// Call `start` before the first connection, because the kernel reads the I/O capability when a
/// link is created. If bluetoothd is running, this agent does nothing: bluetoothd is responsible
/// for pairing, and secures links with its keys and its agent.
public final class PairingAgent: Sendable {
  /// The maximum number of concurrent questions to the user; the kernel sends one request per link.
  private static let questionsMaximum = 8

  enum Standing {
    case idle
    case serving(MgmtSession, puttingBack: [MgmtCommand])
    /// The agent is inactive because bluetoothd is responsible for pairing.
    case leftToDaemon
    case unavailable(MgmtFault)
    case stopped
  }

  struct State {
    var standing = Standing.idle
    var ledger = PairingLedger()
    var address: BluetoothAddress?
    var questions = 0
    /// The callers that wait for the reason why a link's security was not raised.
    var waiting: [BluetoothAddress: OneShot<PairingEnd>] = [:]
    /// Devices whose pairing on the current link has been reported.
    var reported: Set<BluetoothAddress> = []
    /// The time at which a device's pairing request was refused because the host did not require
    /// pairing.
    var refused: [BluetoothAddress: LinkInstant] = [:]
    /// The number of consecutive links that a device ended soon after its pairing request was
    /// refused.
    var departures: [BluetoothAddress: Int] = [:]
    /// Whether a device has ended its links after a refusal, so that its requests count as
    /// requirements.
    var deviceInsists = false
  }

  /// If the device ends the link within this time after a refusal, the refusal is assumed to be the
  /// reason.
  private static let insistenceLimit = Duration.seconds(2)
  /// The number of consecutive links that a device must end soon after a refusal before the host
  /// assumes that the device requires pairing. One link may end this way by chance, for example
  /// because the device restarts with its new image.
  private static let departuresOfInsistence = 2

  /// The conditions under which pairings store keys.
  public enum Bonding: Sendable {
    /// Keys are stored only while the host secures a link because an attribute or the user requires
    /// security, or after a device has ended several links because its pairing request was refused.
    /// A device that requests security without requiring it then has no keys that could block a
    /// later link.
    case whenRequired
    /// Keys are always stored. Use this case for a peripheral, and if the user requested pairing.
    case always
  }

  /// A completed pairing.
  public struct Pairing: Equatable, Sendable {
    /// The device's identity address.
    public let device: BluetoothAddress
    /// Whether a passkey or a numeric comparison protects the pairing; "Just Works" offers no such
    /// protection.
    public let isAuthenticated: Bool
    /// Whether the keys are stored for the next link.
    public let isKept: Bool
  }

  /// The failure of an attempt to secure a link.
  enum PairingEnd: Equatable, Sendable {
    case failed(MgmtStatus)
    case disconnected(PairingEvent.DisconnectReason)
  }

  private let adapter: UInt16
  /// Whether new pairings are permitted; otherwise only the keys of earlier pairings are used.
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
  ///   - makesBonds: `false` uses only the keys of earlier pairings.
  ///   - bonding: the conditions under which new pairings store keys.
  ///   - user: supplies the answers to the kernel's requests.
  ///   - bonds: returns the bonds of an adapter, whose address is the argument.
  ///   - keep: stores a new or extended bond of the adapter with the address in the argument.
  ///   - paired: called once for each new pairing. The closure must return quickly.
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

  /// Returns the bond with a device, from this or an earlier run.
  public func bond(with device: BluetoothAddress) -> Bond? {
    state.withLock { $0.ledger.bond(of: device) }
  }

  /// Waits for the keys of a new pairing, which arrive after the link was secured. Returns `nil` if
  /// no key arrived within `limit`, because the devices were already paired, or paired only for
  /// this link.
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

  // MARK: Start and stop

  /// Configures the adapter. A failure is stored, and is reported only to callers that secure a
  /// link, because most links need no pairing.
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
    // Loading replaces the kernel's keys. Without bonds nothing is loaded, so that the kernel's
    // keys are kept.
    if !bonds.isEmpty {
      let identities = bonds.compactMap(\.identityResolvingKey)
      try await session.perform(.loadIdentityResolvingKeys(identities), index: adapter)
      try await session.perform(
        .loadLongTermKeys(bonds.flatMap(\.longTermKeys)), index: adapter)
    }
    let former = try await configure(session, information)
    state.withLock { $0.standing = .serving(session, puttingBack: former) }
  }

  /// Configures the adapter; returns the commands that restore its former settings.
  private func configure(
    _ session: MgmtSession, _ information: ControllerInformation
  ) async throws(MgmtFault) -> [MgmtCommand] {
    // The previous value cannot be read; this value is the kernel's default.
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
        // A dual-mode adapter may reject the command; legacy pairing still works.
      }
    }
    return former
  }

  /// Handles the kernel's events until `stop`.
  public func run() async {
    guard case .serving(let session, _) = state.withLock({ $0.standing }) else { return }
    await withDiscardingTaskGroup { group in
      do throws(MgmtFault) {
        while let packet = try await session.next(until: nil) {
          guard packet.index == adapter, case .pairing(let event) = packet.event else { continue }
          take(event, session, &group)
        }
      } catch {
        // The agent was stopped, or the adapter was removed; the links report the removal.
      }
      group.cancelAll()
    }
  }

  /// Restores the adapter's settings and ends `run`. The keys stay in the kernel.
  public func stop() {
    let standing = state.withLock { state in
      defer { state.standing = .stopped }
      return state.standing
    }
    guard case .serving(let session, let former) = standing else { return }
    // The responses can no longer be awaited; a removed adapter has no settings to restore.
    for command in former { _ = session.post(command, index: adapter) }
    session.close()
  }

  // MARK: Events of the kernel

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

  /// Reports a new pairing once, even if it has two keys. Detects a device that disconnects because
  /// its pairing request was refused.
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

  /// Permits pairings to store keys while the host requires it. The kernel has executed the command
  /// when the function returns.
  private func setBondable(_ session: MgmtSession) {
    guard bonding == .whenRequired, makesBonds else { return }
    let isRequired = state.withLock { $0.deviceInsists || !$0.waiting.isEmpty }
    _ = session.post(.setBondable(isRequired), index: adapter)
  }

  /// Sets the recipient of a failure to secure the link to a device; `nil` removes the recipient.
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
