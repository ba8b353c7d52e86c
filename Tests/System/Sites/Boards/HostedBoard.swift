import Foundation
import OtaflashFirmware
import OtaflashGATT
import OtaflashSimulation
import Synchronization

/// One simulated board on a Unix socket. It serves the newest connection, like a peripheral whose
/// former link died unnoticed, and records what arrives on the former connection.
final class HostedBoard: Sendable {
  /// Defects of the link and the power of a board.
  struct Defects: Sendable {
    /// The number of PDUs of hosts after which the link is cut, once; `nil` = never.
    var cutAfterPDUs: Int?
    /// The number of image bytes after which the power fails, once; `nil` = never.
    var powerCutAfterBytes: Int?
  }

  /// A line of the report.
  struct Report: Encodable {
    let board: String
    let path: String
    let fate: String
    let from: String
    let runs: String
    let checksum: UInt32
    let cuts: Int
    let powerCuts: Int
    let flashFaults: Int
    let log: BoardLog
  }

  private struct State {
    var log = BoardLog()
    var newest: HostConnection?
    var defects: Defects
    var pdus = 0
    var cuts = 0
    var powerCuts = 0
  }

  private static let queueMaximum = 64
  /// The interval in which the end of a board that does not return from its activation is noticed.
  private static let goneInterval = Duration.milliseconds(50)

  let id: String
  let path: String
  private let fate: FleetProfile.Fate
  private let version: FirmwareVersion
  private let board: SimulatedBoard
  private let clock: any LinkClock
  private let incoming = Mailbox<HostConnection>(capacity: HostedBoard.queueMaximum)
  private let state: Mutex<State>

  init(_ board: FleetProfile.Board, in folder: String, _ defects: Defects, clock: any LinkClock)
    throws
  {
    id = board.id
    path = "\(folder)/\(board.id).sock"
    fate = board.fate
    version = board.profile.version
    self.clock = clock
    self.board = try SimulatedBoard(profile: board.profile, clock: clock)
    state = Mutex(State(defects: defects))
  }

  /// Whether hosts can find the board at all.
  var isPresent: Bool { fate != .away }

  private static var now: Double {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
  }

  // MARK: The hub

  /// Records a new connection, which replaces the former one.
  func accepted(_ descriptor: Int32, process: Int32) -> HostConnection {
    let (connection, former) = state.withLock { state -> (HostConnection, HostConnection?) in
      let number = state.log.connected(process: process, at: Self.now)
      let connection = HostConnection(number, descriptor: descriptor) { [weak self] pdu in
        self?.sends(pdu, on: number)
      }
      defer { state.newest = connection }
      return (connection, state.newest)
    }
    former?.lose(.supervisionTimeout)
    if !incoming.offer(connection) { connection.lose(.supervisionTimeout) }
    return connection
  }

  /// Records a PDU from a host and passes it to the board.
  func arrived(_ pdu: [UInt8], on connection: HostConnection) {
    let (isCut, isPowerCut) = state.withLock { state -> (Bool, Bool) in
      state.log.arrived(pdu, on: connection.number, at: Self.now)
      state.pdus += 1
      let isCut = state.defects.cutAfterPDUs.map { state.pdus >= $0 } ?? false
      let isPowerCut = state.defects.powerCutAfterBytes.map { state.log.bytes >= $0 } ?? false
      if isCut { (state.defects.cutAfterPDUs, state.cuts) = (nil, state.cuts + 1) }
      if isPowerCut {
        (state.defects.powerCutAfterBytes, state.powerCuts) = (nil, state.powerCuts + 1)
      }
      return (isCut, isPowerCut)
    }
    if isCut { return connection.close() }
    if isPowerCut { board.powerCut() }
    connection.deliver(pdu)
  }

  /// Records the end of a connection.
  func left(_ connection: HostConnection) {
    state.withLock { $0.log.ended(connection.number, at: Self.now) }
    connection.hostLeft()
  }

  private func sends(_ pdu: [UInt8], on number: Int) {
    state.withLock { state in
      state.log.sent(pdu, on: number, at: Self.now) { board.running.crc32 }
    }
  }

  // MARK: Power

  /// Powers the board and serves its hosts.
  ///
  /// - Parameter gone: called when the board does not return from an activation.
  func run(gone: @escaping @Sendable () -> Void) async {
    await withDiscardingTaskGroup { group in
      group.addTask { _ = await self.board.run() }
      if self.fate == .bricks {
        group.addTask { await self.waitUntilGone(gone) }
      }
      while let connection = await self.incoming.next() {
        guard connection.isServed else { continue }
        await self.board.serve(connection)
      }
      group.cancelAll()
    }
  }

  private func waitUntilGone(_ gone: @escaping @Sendable () -> Void) async {
    // A power cut is a reset as well.
    while board.counters.resets <= state.withLock({ $0.powerCuts }) {
      guard await clock.pause(for: Self.goneInterval) else { return }
    }
    gone()
    state.withLock { $0.newest }?.close()
  }

  var report: Report {
    state.withLock { state in
      Report(
        board: id, path: path, fate: "\(fate)", from: "\(version)",
        runs: "\(board.running.version)",
        checksum: board.running.crc32, cuts: state.cuts, powerCuts: state.powerCuts,
        flashFaults: board.flashFaults.count, log: state.log)
    }
  }
}
