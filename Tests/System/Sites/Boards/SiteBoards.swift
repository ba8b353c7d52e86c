// Hosts simulated boards, each on its own Unix socket, and records what their hosts do.
//
//   site-boards FOLDER 'N?key=value&…' [--cuts SHARE] [--power-cuts SHARE] [--report FILE]
//
// The second argument is a fleet as in `sim-fleet:` (otaflash-campaign(5)); it determines boards,
// versions and defects completely. The sockets are FOLDER/board-0001.sock and so on; absent boards
// have no socket. The flash of the boards is in the memory of this process. --cuts is the share of
// boards whose link is cut once, --power-cuts that of boards whose power fails once in a transfer.
// Prints `ready` when all sockets exist. A line `report` on standard input, SIGTERM and the end of
// standard input write the report: one JSON object for each board. Then `done` is printed; SIGTERM
// and the end of standard input also end the program.

import Dispatch
import Foundation
import OtaflashBlueZ
import OtaflashGATT
import OtaflashSimulation
import Synchronization

@main struct SiteBoards {
  private static let usage = """
    usage: site-boards FOLDER 'N?key=value&…' [--cuts SHARE] [--power-cuts SHARE] [--report FILE]
    """
  /// The descriptors of a fleet of the maximum size: a listener and some connections each.
  private static let descriptorsMaximum: rlim_t = 65_536

  let folder: String
  let fleet: FleetProfile
  var cuts = 0.0
  var powerCuts = 0.0
  var reportPath = ""

  static func main() async throws {
    guard let program = try SiteBoards(CommandLine.arguments.dropFirst()) else {
      print(usage)
      exit(64)
    }
    try await program.run()
  }

  private init?(_ words: ArraySlice<String>) throws {
    var words = words
    guard let folder = words.popFirst(), let fleet = words.popFirst() else { return nil }
    self.folder = folder
    self.fleet = try FleetProfile(parsing: fleet)
    reportPath = "\(folder)/boards.jsonl"
    while let option = words.popFirst() {
      guard let value = words.popFirst() else { return nil }
      switch option {
      case "--cuts": cuts = Double(value) ?? 0
      case "--power-cuts": powerCuts = Double(value) ?? 0
      case "--report": reportPath = value
      default: return nil
      }
    }
  }

  private func run() async throws {
    raiseLimit()
    let hub = try SocketHub()
    let clock = EventLoopClock()
    let boards = try (0..<fleet.boardCount).map { number in
      try HostedBoard(fleet.board(number), in: folder, defects(of: number), clock: clock)
    }
    for board in boards where board.isPresent { try hub.listen(for: board) }
    hub.start()
    let termination = terminations(boards)
    handleRequests(boards)
    Self.say("ready")
    defer { termination.cancel() }
    await withTaskExecutorPreference(EventLoop.shared) {
      await withDiscardingTaskGroup { group in
        for board in boards {
          group.addTask { await board.run { hub.stopListening(for: board) } }
        }
      }
    }
  }

  /// The defects of a board; equal fleets have equal defects.
  private func defects(of number: Int) -> HostedBoard.Defects {
    var random = SeededRandom(seed: fleet.seed).forked(for: UInt64(number)).forked(for: 2)
    var defects = HostedBoard.Defects()
    // Each board draws all numbers, so that a change of one share keeps the other defects.
    let (pdus, bytes) = (20 + random.next() % 60, 2048 + random.next() % 16_384)
    if random.happens(withProbability: cuts) { defects.cutAfterPDUs = Int(pdus) }
    if random.happens(withProbability: powerCuts) { defects.powerCutAfterBytes = Int(bytes) }
    return defects
  }

  private func raiseLimit() {
    var limit = rlimit()
    getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    limit.rlim_cur = min(limit.rlim_max, Self.descriptorsMaximum)
    setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
  }

  // MARK: Reports

  private func terminations(_ boards: [HostedBoard]) -> any DispatchSourceSignal {
    let path = reportPath
    signal(SIGTERM, SIG_IGN)
    let source = DispatchSource.makeSignalSource(signal: SIGTERM, queue: .global())
    source.setEventHandler { Self.finish(boards, path) }
    source.resume()
    return source
  }

  private func handleRequests(_ boards: [HostedBoard]) {
    let path = reportPath
    Thread.detachNewThread {
      while let line = readLine() {
        if line == "report" { Self.report(boards, path) }
      }
      Self.finish(boards, path)
    }
  }

  /// Prints a line without delay.
  private static func say(_ line: String) {
    FileHandle.standardOutput.write(Data("\(line)\n".utf8))
  }

  private static func finish(_ boards: [HostedBoard], _ path: String) {
    report(boards, path)
    for board in boards { unlink(board.path) }
    exit(0)
  }

  /// Writes the report and prints `done`.
  private static func report(_ boards: [HostedBoard], _ path: String) {
    do {
      let encoder = JSONEncoder()
      encoder.outputFormatting = .sortedKeys
      var text = Data()
      for board in boards {
        text += try encoder.encode(board.report)
        text.append(10)
      }
      try text.write(to: URL(filePath: path), options: .atomic)
      say("done")
    } catch {
      print("the report cannot be written to \(path): \(error)")
      exit(1)
    }
  }
}
