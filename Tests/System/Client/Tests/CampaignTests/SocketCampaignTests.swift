import Foundation
import OtaflashBlueZ
import OtaflashFleet
import OtaflashGATT
import OtaflashSimulation
import Testing

private struct SocketDoorway: Doorway {
  let path: String

  func dial() async throws(ConnectFault) -> any Link {
    try await UnixLink.connect(path: path, within: .seconds(5))
  }
}

/// The same campaign in real time, over kernel sockets.
@Suite struct SocketCampaignTests {
  @Test func devicesBehindSocketsAreUpdated() async throws {
    let folder = FileManager.default.temporaryDirectory.path()
    let number = ProcessInfo.processInfo.processIdentifier
    let paths = (0..<2).map { "\(folder)/door-\(number)-\($0).sock" }
    let clock = EventLoopClock()
    let run = try await withTaskExecutorPreference(EventLoop.shared) {
      try await withThrowingTaskGroup(of: Void.self) { devices in
        for path in paths {
          let listener = try UnixListener(path: path)
          devices.addTask { try await Self.serve(listener, clock) }
        }
        let doors = paths.map { ("unix:\($0)", SocketDoorway(path: $0)) }
        let transport = DoorTransport(doors: Dictionary(uniqueKeysWithValues: doors))
        let run = try await DoorCampaign(paths.map { "unix:\($0)" }).run(
          over: transport, clock: clock
        ).run
        devices.cancelAll()
        return run
      }
    }
    #expect(run.control == .ended(.complete(failed: 0)))
    #expect(run.devices.allSatisfy { $0.ending == .updated })
  }

  /// A board with a socket, which accepts one host at a time.
  private static func serve(_ listener: UnixListener, _ clock: EventLoopClock) async throws {
    defer { listener.close() }
    let board = try SimulatedBoard(profile: try SimulationProfile(parsing: "fast"), clock: clock)
    try await board.powered {
      while !Task.isCancelled {
        do throws(ConnectFault) { await board.serve(try await listener.accept()) } catch { return }
      }
    }
  }
}
