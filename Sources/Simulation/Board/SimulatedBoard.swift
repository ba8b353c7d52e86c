import OtaflashATT
import OtaflashGATT

/// A complete simulated device: flash, bootloader, the firmware of its kind, a GATT server and a
/// radio. `run()` powers it; `dial()` connects a host to it.
///
/// ```swift
/// let profile = try SimulationProfile(parsing: "sim:?loss=1%")
/// let board = try SimulatedBoard(profile: profile, clock: clock)
/// let result = try await board.powered {
///   try await FirmwareUpdate(image: image).run(on: board.dialer, clock: clock)
/// }
/// ```
public final class SimulatedBoard: Sendable {
  /// The advertising interval, which is also the shortest time to connect.
  public static let advertisingInterval: Duration = .milliseconds(20)
  /// The maximum number of new connections whose radio has not started yet.
  private static let radiosMaximum = 64
  /// The number of data writes after which the fault `adapter-vanishes` occurs.
  private static let adapterWritesMaximum = 100

  /// The settings of the board.
  public let settings: BoardSettings
  let clock: any LinkClock
  let flash: SimulatedFlash
  let firmware: any BoardFirmware
  let random: SeededRandom
  /// The state of the faults.
  let filter: Shared<FaultFilter>
  let traffic = Shared(CountingLink.Traffic())
  let state: Shared<BoardState>
  /// Signals new work for the program.
  let programSignal: WakeSignal
  let connectionOffered = WakeSignal()
  let radios = Mailbox<SimulatedConnection>(capacity: SimulatedBoard.radiosMaximum)

  init(
    _ device: DeviceKind, _ settings: BoardSettings, storage: (any FlashMedium)?,
    clock: any LinkClock, seed: UInt64?
  ) throws(FlashFault) {
    self.settings = settings
    self.clock = clock
    random = SeededRandom(seed: seed ?? settings.seed)
    let size = device.flashSize(settings)
    var geometry = settings.geometry(size: size)
    geometry.pageSize = device.flashPageSize
    flash = try SimulatedFlash(
      geometry: geometry, medium: storage ?? FlashMemory(size: size),
      random: random.forked(for: 1))
    filter = Shared(FaultFilter(plan: settings.faults, random: random.forked(for: 3)))
    let (programSignal, state) = (WakeSignal(), Shared(BoardState()))
    (self.programSignal, self.state) = (programSignal, state)
    firmware = try device.makeFirmware(
      of: BoardParts(
        settings: settings, applicationName: settings.givenName ?? device.applicationName,
        flash: flash, random: random, clock: clock, wake: { programSignal.signal() },
        note: { fault in state.withLock { $0.flashFaults.append(fault) } }))
  }

  // MARK: The host's side

  /// The address at which a host searches for the device first. The bootloader of the device may
  /// use another address.
  public var address: DeviceAddress { firmware.address }

  /// The current advertisement; `nil` while the device is off, booting or connected.
  public var advertisement: Advertisement? {
    state.withLock { state in
      guard case .advertising = state.phase else { return nil }
      return state.advertisement
    }
  }

  /// Connects to the device's own address. Waits while the device boots, advertises under another
  /// address, or still has an earlier connection.
  ///
  /// - Throws: `.deviceNotFound` if the device does not advertise under this address within
  ///   `limit`, `.adapterUnavailable` if the simulated adapter is unplugged, `.cancelled` if the
  ///   task is cancelled.
  public func dial(within limit: Duration = .seconds(10)) async throws(ConnectFault) -> any Link {
    try await dial(address: address, within: limit)
  }

  /// Connects to the device at `place`, a location relative to the device's own address.
  ///
  /// - Throws: as `dial(within:)` does.
  public func dial(
    at place: DeviceLocation, within limit: Duration = .seconds(10)
  ) async throws(ConnectFault) -> any Link {
    try await dial(within: limit, over: nil, isMeant(by: place))
  }

  /// Returns the condition for advertisements that match the search for a device at `place`.
  private func isMeant(by place: DeviceLocation) -> @Sendable (Advertisement) -> Bool {
    if case .advertising(let name) = place { return { $0.name == name } }
    guard settings.addressing == .random else {
      let id = address.at(place)?.description
      return { $0.id == id }
    }
    if place == .homeOrNewAddress { return { _ in true } }
    let id = (state.withLock { $0.knownAddress } ?? address).at(place)?.description
    return { $0.id == id }
  }

  /// Connects to any program of the device that advertises under `address`, such as its bootloader.
  ///
  /// - Parameters:
  ///   - address: `nil` = any address, for a transport without addresses.
  ///   - limit: the longest time until the device advertises.
  /// - Throws: as `dial(within:)` does.
  public func dial(
    address: DeviceAddress?, within limit: Duration = .seconds(10)
  ) async throws(ConnectFault) -> any Link {
    let id = address?.description
    return try await dial(within: limit, over: nil) { id == nil || $0.id == id }
  }

  /// Connects to the device at `place`, over the radio of an adapter that other links share.
  ///
  /// - Throws: the errors of `dial(within:)`; also `.adapterUnavailable` if the adapter of `air` is
  ///   unplugged.
  package func dial(
    at place: DeviceLocation, within limit: Duration = .seconds(10), over air: SharedRadio
  ) async throws(ConnectFault) -> any Link {
    try await dial(within: limit, over: air, isMeant(by: place))
  }

  private func dial(
    within limit: Duration, over air: SharedRadio?,
    _ isMeant: @Sendable (Advertisement) -> Bool
  ) async throws(ConnectFault) -> any Link {
    let deadline = clock.now.advanced(by: limit)
    while clock.now < deadline {
      guard await clock.pause(for: Self.advertisingInterval) else { throw .cancelled }
      guard !state.withLock({ $0.isAdapterGone }), air?.isPresent ?? true else {
        throw Self.adapterIsGone
      }
      if let link = connect(over: air, isMeant) { return observed(link) }
    }
    throw .deviceNotFound(
      cause: "The simulated device did not advertise within \(limit).",
      remedy: .advice("Choose a profile whose device advertises."))
  }

  /// Attaches a connection from outside the simulation, such as a real radio, to the device, and
  /// returns when the connection ends. Waits while the device boots or still has an earlier
  /// connection. The modeled radio and the faults of the radio in the profile do not apply.
  public func serve(_ link: any Link) async {
    let connection = AttachedConnection(link)
    while !attach(connection) {
      guard await clock.pause(for: Self.advertisingInterval) else { return link.close() }
    }
    await connection.waitUntilOver()
    connection.close()
  }

  /// Interrupts the device's power for a moment: the running flash operation stays incomplete, and
  /// the host detects the loss after the supervision timeout.
  public func powerCut() {
    state.withLock { $0.isPowerCut = true }
    programSignal.signal()
  }

  // MARK: Observation

  /// Returns the content in flash of the image that runs or that the next `run()` boots; empty if
  /// only a bootloader can run.
  public func runningImage() throws(FlashFault) -> [UInt8] { try firmware.runningImage() }

  /// Returns the running images of a device with several images; `runningImage()` is the first.
  public func runningImages() throws(FlashFault) -> [[UInt8]] { try firmware.runningImages() }

  /// The identity of the running image.
  public var running: SlotImage { firmware.running }

  /// The counters since the board was created.
  public var counters: BoardCounters {
    let traffic = traffic.withLock { $0 }
    return state.withLock {
      BoardCounters(
        pdus: traffic.pdus, dataWrites: traffic.dataWrites, dataBytes: traffic.dataBytes,
        connections: $0.connections, resets: $0.resets, flashOperations: $0.flashOperations,
        flash: flash.counts)
    }
  }

  /// The faults of flash operations; empty unless the firmware violated the rules of flash, which
  /// is a bug, or the storage failed.
  public var flashFaults: [FlashFault] { state.withLock { $0.flashFaults } }
}

// MARK: - Connections

extension SimulatedBoard {
  private static var adapterIsGone: ConnectFault {
    .adapterUnavailable(
      cause: "The simulated adapter was unplugged.", remedy: .advice("Choose another profile."))
  }

  /// Connects if the device currently sends advertisements for which `isMeant` is true; otherwise
  /// returns `nil`.
  private func connect(
    over air: SharedRadio?, _ isMeant: (Advertisement) -> Bool
  ) -> SimulatedLink? {
    let connection = state.withLock { state -> SimulatedConnection? in
      guard case .advertising = state.phase, !state.hasNewAddress,
        state.advertisement.map(isMeant) ?? false
      else { return nil }
      state.knownAddress = state.advertisement.flatMap { DeviceAddress($0.id) }
      let connection = makeConnection(&state, over: air)
      state.phase = .connected(connection)
      state.offered = connection
      return connection
    }
    guard let connection else { return nil }
    let isTakenUp = radios.offer(connection)
    precondition(isTakenUp, "a board that advertises runs its radios")
    connectionOffered.signal()
    return connection.central
  }

  private func attach(_ connection: AttachedConnection) -> Bool {
    let isTaken = state.withLock { state in
      guard case .advertising = state.phase else { return false }
      state.connections += 1
      state.phase = .connected(connection)
      state.offered = connection
      return true
    }
    if isTaken { connectionOffered.signal() }
    return isTaken
  }

  private func observed(_ link: SimulatedLink) -> any Link {
    settings.faults.contains(.slowObserver) ? SlowLink(link, clock: clock) : link
  }

  private func makeConnection(
    _ state: inout BoardState, over air: SharedRadio?
  ) -> SimulatedConnection {
    state.connections += 1
    state.firstConnection = state.firstConnection ?? clock.now
    let pdusLeft = settings.faults.count(of: .cutAtPDU).map { $0 - state.pdusBefore }
    do throws(RadioModelFault) {
      return try SimulatedConnection(
        model: settings.radio, clock: clock,
        random: random.forked(for: 100 + UInt64(state.connections)),
        cutAfterPDUs: pdusLeft.flatMap { $0 > 0 ? $0 : nil }, air: air)
    } catch {
      preconditionFailure("the profile's radio was not validated: \(error)")
    }
  }

  /// Unplugs the adapter after a number of data writes, if the profile requires this. Called for
  /// each PDU from the host.
  func noteTraffic(_ traffic: CountingLink.Traffic) {
    guard settings.faults.contains(.adapterVanishes),
      traffic.dataWrites >= Self.adapterWritesMaximum
    else { return }
    let connection = state.withLock { state -> (any BoardConnection)? in
      state.isAdapterGone = true
      guard case .connected(let connection) = state.phase else { return nil }
      return connection
    }
    connection?.hostVanishes(
      with: .failed(
        errno: 19, reason: "The simulated adapter was unplugged; choose another profile."))
  }
}
