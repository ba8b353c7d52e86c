import Door
import Foundation
import OtaflashBlueZ
import OtaflashGATT
import Synchronization
import Testing

/// The app with the same door in real time, over a kernel socket.
@Suite struct SocketTests {
  @Test func theSameDoorIsReadThroughASocket() async throws {
    let path = FileManager.default.temporaryDirectory
      .appending(path: "door-\(ProcessInfo.processInfo.processIdentifier).sock").path()
    let crossed = Mutex<[TracingLink.Crossing]>([])
    let server = GATTServer(table: DoorFirmware().table)
    let clock = EventLoopClock()
    let state = try await withTaskExecutorPreference(EventLoop.shared) {
      let listener = try UnixListener(path: path)
      defer { listener.close() }
      async let end = server.serve(try await listener.accept(), clock: clock)
      let socket = Dialer { () async throws(ConnectFault) -> any Link in
        try await UnixLink.connect(path: path, within: .seconds(5))
      }
      let dialer = socket.tracing(on: clock) { crossing in
        crossed.withLock { $0.append(crossing) }
      }
      let state = try await withPeripheral(dialer, clock: clock) { door in
        try DoorState(decoding: try await door.read(.doorState, in: .door))
      }
      #expect(try await end == .closedByPeer)
      return state
    }
    #expect(state == .closed)
    #expect(crossed.withLock { $0 }.contains { $0.pdu.first == 0x0B })
  }
}
