import OtaflashATT
import OtaflashGATT
import OtaflashSimulation

/// A device that answers each read with the number of the connection, and confirms each write. On
/// the connections in `silent`, it does not answer.
final class CountingDevice: Sendable {
  static let handle = AttributeHandle(1)

  private let connections = Counter()
  private let links = Mailbox<(MemoryLink, Int)>(capacity: 16)
  private let silent: Set<Int>

  /// - Parameter silent: connections, counted from 0, on which it never responds.
  init(silent: Set<Int> = []) { self.silent = silent }

  var connectionCount: Int { connections.value }

  var dialer: Dialer {
    Dialer { () async throws(ConnectFault) -> any Link in
      let (near, far) = MemoryLink.pair(capacity: 4)
      self.links.offer((far, self.connections.take()))
      return near
    }
  }

  func run() async {
    await withDiscardingTaskGroup { group in
      while let (link, number) = await links.next() {
        group.addTask { await self.answer(on: link, number) }
      }
    }
  }

  func switchOff() { links.finish() }

  private func answer(on link: MemoryLink, _ number: Int) async {
    do throws(LinkLoss) {
      while true {
        let request = try await link.receive()
        if silent.contains(number) { continue }
        try await link.send(request[0] == 0x12 ? [0x13] : [0x0B, UInt8(number)])
      }
    } catch {
      return
    }
  }
}

/// Runs `body` while `device` runs, in virtual time; then switches the device off.
func near<Value: Sendable>(
  _ device: CountingDevice, _ body: @escaping @Sendable (VirtualClock) async -> Value
) throws -> Value {
  try VirtualTimeline().run { clock in
    await withTaskGroup(of: Void.self) { group in
      group.addTask { await device.run() }
      let value = await body(clock)
      device.switchOff()
      return value
    }
  }
}

/// The result of `body`, or its fault, as a string.
func text<Value>(_ body: () async throws -> Value) async -> String {
  do { return "\(try await body())" } catch { return "\(error)" }
}
