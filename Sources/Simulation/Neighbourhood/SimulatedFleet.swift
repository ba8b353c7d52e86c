import OtaflashFirmware
import OtaflashGATT
import Synchronization

/// The boards of a fleet and the adapters that reach them. A board is powered from its first
/// connection until it is released, so that memory grows only with the number of boards in use,
/// even for ten thousand boards. The content of the board's flash persists. Links on one adapter
/// share its radio.
package final class SimulatedFleet: Sendable {
  /// A board as the host lists it.
  package struct Device: Hashable, Sendable {
    package let id: String
    /// The display name: kind and number.
    package let name: String
    /// The kind of the board, such as `smp`.
    package let board: String
    /// The version before any update.
    package let version: FirmwareVersion
  }

  package struct Hearing: Hashable, Sendable {
    package let adapter: String
    /// The signal strength in dBm.
    package let rssi: Int
  }

  /// The true state of a board.
  package struct Truth: Hashable, Sendable {
    package internal(set) var version: FirmwareVersion?
    /// The number of bytes of the image that the board received, including repeated bytes.
    package internal(set) var bytes = 0
    /// The time during which the flash of the board was busy.
    package internal(set) var flashTime = Duration.zero
    /// Whether the board is off permanently.
    package internal(set) var isGone = false
  }

  /// Returns the flash, of `bytes` bytes, of the board with the id `board`. Called once per board;
  /// the fleet retains the result. The content of the flash outlives the fleet.
  package typealias Storage =
    @Sendable (_ board: String, _ bytes: Int) throws(FlashFault) -> any FlashMedium

  private struct Powered {
    let board: SimulatedBoard
    let off = OneShot<Void>()
    var isLeaving = false
    /// The state of the board before it was last powered on.
    let former: Truth
  }

  private struct State {
    var powered: [Int: Powered] = [:]
    var flash: [Int: any FlashMedium] = [:]
    var truth: [Int: Truth] = [:]
    var most = 0
  }

  private enum Supply {
    case on(SimulatedBoard)
    case leaving
    case gone
  }

  /// The time limit for the advertisement of a board.
  private static let patience = Duration.seconds(10)
  /// The maximum number of boards that are switched on before `run` powers them.
  private static let switchedOnMaximum = 4096

  package let profile: FleetProfile
  private let clock: any LinkClock
  private let storage: Storage?
  private let radios: [(adapter: String, radio: SharedRadio)]
  private let pool = PagePool()
  private let state = Mutex(State())
  private let switchedOn = Mailbox<@Sendable () async -> Void>(
    capacity: SimulatedFleet.switchedOnMaximum)

  /// - Parameters:
  ///   - profile: the profile of the fleet.
  ///   - clock: the clock of boards and host.
  ///   - storage: stores the boards' flash; `nil` = memory.
  package init(_ profile: FleetProfile, clock: any LinkClock, storage: Storage? = nil) {
    self.profile = profile
    self.clock = clock
    self.storage = storage
    radios = (0..<profile.adapterCount).map { ("hci\($0)", SharedRadio()) }
  }

  /// Powers the boards until the task is cancelled.
  package func run() async {
    await withDiscardingTaskGroup { group in
      while let life = await switchedOn.next() { group.addTask { await life() } }
      group.cancelAll()
    }
  }
}

// MARK: - The view of a host

extension SimulatedFleet {
  /// The adapters that are plugged in.
  package var adapters: [String] { radios.filter(\.radio.isPresent).map(\.adapter) }

  /// The devices, sorted by id.
  package var devices: [Device] {
    (0..<profile.boardCount).map { number in
      let board = profile.board(number)
      return Device(
        id: board.id, name: "\(board.kind) \(board.id.dropFirst(6))", board: board.kind,
        version: board.profile.version)
    }
  }

  /// Returns the plugged-in adapters that reach a board; empty for a board that is absent or gone.
  package func hearing(of id: String) -> [Hearing] {
    guard let number = profile.number(of: id), isThere(number) else { return [] }
    return profile.hearing(of: number).compactMap { adapter, rssi in
      let (name, radio) = radios[adapter]
      return radio.isPresent ? Hearing(adapter: name, rssi: rssi) : nil
    }
  }

  private func isThere(_ number: Int) -> Bool {
    profile.fate(of: number) != .away && !state.withLock { Self.isGone(number, $0) }
  }

  private static func isGone(_ number: Int, _ state: State) -> Bool {
    state.powered[number]?.board.isGone ?? state.truth[number]?.isGone ?? false
  }

  /// Connects to a board. Waits at most ten seconds while the board boots.
  ///
  /// - Throws: the errors of `SimulatedBoard.dial`; `.systemCall` if the storage of the board's
  ///   flash fails.
  package func connect(
    to id: String, at place: DeviceLocation, on adapter: String
  ) async throws(ConnectFault) -> any Link {
    guard let radio = radio(of: adapter), radio.isPresent else {
      throw .adapterUnavailable(
        cause: "The simulated adapter \(adapter) is not plugged in.", remedy: .plugInAdapter)
    }
    let deadline = clock.now.advanced(by: Self.patience)
    while let number = profile.number(of: id), isThere(number) {
      switch try supply(number) {
      case .on(let board): return try await board.dial(at: place, over: radio)
      case .leaving:
        guard await clock.pause(for: SimulatedBoard.advertisingInterval) else { throw .cancelled }
      case .gone: break
      }
    }
    guard await clock.pause(until: deadline) else { throw .cancelled }
    throw .deviceNotFound(
      cause: "The simulated board \(id) did not advertise within \(Self.patience).",
      remedy: .comeCloser)
  }

  private func radio(of adapter: String) -> SharedRadio? {
    radios.first { $0.adapter == adapter }?.radio
  }

  /// Unplugs an adapter, which ends its links, or plugs it in again.
  package func setAdapterPresent(_ adapter: String, _ isPresent: Bool) {
    radio(of: adapter)?.setPresent(isPresent)
  }

  /// Returns the time during which an adapter's radio carried data.
  package func airTime(of adapter: String) -> Duration { radio(of: adapter)?.airTime ?? .zero }

  /// Powers a board off until the next connection to it.
  package func release(_ id: String) {
    guard let number = profile.number(of: id) else { return }
    let off = state.withLock { state in
      state.powered[number]?.isLeaving = true
      return state.powered[number]?.off
    }
    off?.fulfil(())
  }
}

// MARK: - For tests

extension SimulatedFleet {
  /// The true states by id, of the boards that were powered at least once.
  package var truth: [String: Truth] {
    let numbers = state.withLock { Set($0.powered.keys).union($0.truth.keys) }
    return Dictionary(
      uniqueKeysWithValues: numbers.map { (profile.id(of: $0), truth(of: $0)) })
  }

  private func truth(of number: Int) -> Truth {
    state.withLock { state in
      state.powered[number].map(Self.truth) ?? state.truth[number] ?? Truth()
    }
  }

  private static func truth(_ powered: Powered) -> Truth {
    let (board, counters) = (powered.board, powered.board.counters)
    var truth = powered.former
    truth.version = board.running.version
    truth.bytes += counters.dataBytes
    truth.flashTime +=
      board.settings.eraseTime * counters.flash.erases
      + board.settings.writeTimePer4KiB * counters.flash.bytesWritten / 4096
    truth.isGone = board.isGone
    return truth
  }

  /// The number of powered boards.
  package var poweredCount: Int { state.withLock { $0.powered.count } }

  /// The maximum number of boards that were powered at the same time.
  package var poweredMost: Int { state.withLock { $0.most } }
}

// MARK: - Power

extension SimulatedFleet {
  private func supply(_ number: Int) throws(ConnectFault) -> Supply {
    let fresh: (board: SimulatedBoard, off: OneShot<Void>)?
    let supply: Supply
    do throws(FlashFault) {
      (supply, fresh) = try state.withLock { (state) throws(FlashFault) in
        if let powered = state.powered[number] {
          return (powered.isLeaving ? .leaving : .on(powered.board), nil)
        }
        if state.truth[number]?.isGone == true { return (.gone, nil) }
        let powered = Powered(
          board: try makeBoard(number, &state), former: state.truth[number] ?? Truth())
        state.powered[number] = powered
        state.most = max(state.most, state.powered.count)
        return (.on(powered.board), (powered.board, powered.off))
      }
    } catch {
      let cause = "The flash of a simulated board cannot be stored: \(error)."
      guard case .medium(let operation, let errno) = error else {
        throw .systemCall(
          name: "flash", errno: 5, cause: cause, remedy: .advice("Choose another state directory."))
      }
      throw .systemCall(
        name: operation, errno: errno, cause: cause,
        remedy: .advice("Free disk space, or choose another state directory."))
    }
    if let (board, off) = fresh {
      let isTaken = switchedOn.offer { await self.live(board, number, until: off) }
      precondition(isTaken, "fewer boards are switched on at a time")
    }
    return supply
  }

  private func makeBoard(
    _ number: Int, _ state: inout State
  ) throws(FlashFault) -> SimulatedBoard {
    let (id, profile) = (profile.id(of: number), profile.board(number).profile)
    let flash: any FlashMedium
    if let known = state.flash[number] {
      flash = known
    } else if let storage {
      flash = try storage(id, profile.flashSize)
    } else {
      flash = PagedFlash(size: profile.flashSize)
    }
    state.flash[number] = flash
    return try SimulatedBoard(profile: profile, storage: flash, clock: clock)
  }

  private func live(_ board: SimulatedBoard, _ number: Int, until off: OneShot<Void>) async {
    _ = await runCancellably(until: off) { () async -> Void in _ = await board.run() }
    state.withLock { state in
      guard let powered = state.powered.removeValue(forKey: number) else { return }
      state.truth[number] = Self.truth(powered)
      (state.flash[number] as? PagedFlash)?.share(through: pool)
    }
  }
}

extension SimulatedBoard {
  /// Whether the board is off permanently.
  fileprivate var isGone: Bool {
    state.withLock { state in
      if case .gone = state.phase { true } else { false }
    }
  }
}
