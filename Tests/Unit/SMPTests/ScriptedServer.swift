import OtaflashATT
import OtaflashGATT
import OtaflashSimulation
import OtaflashUpdate
import OtaflashWire

/// An SMP server whose answers a test computes from the requests.
final class ScriptedServer: Sendable {
  private let answer: @Sendable (SMPCall, SMPMessage) -> SMPMessage?
  private let server = GATTServer(valuesMaximum: 1_000)

  /// - Parameter answer: returns the answer to a request; `nil` = no answer.
  init(_ answer: @escaping @Sendable (SMPCall, SMPMessage) -> SMPMessage?) { self.answer = answer }

  func run<Value: Sendable>(
    _ body: @escaping @Sendable (Dialer, VirtualClock) async throws(UpdateFault) -> Value
  ) throws -> Result<Value, UpdateFault> {
    try VirtualTimeline().run(limit: .seconds(7_200)) { clock -> Result<Value, UpdateFault> in
      let calls = Mailbox<MemoryLink>(capacity: 4)
      return await withTaskGroup(of: Void.self) { group in
        group.addTask {
          while let link = await calls.next() { await self.serve(link, clock: clock) }
        }
        let dialer = Dialer { () async throws(ConnectFault) -> any Link in
          let (near, far) = MemoryLink.pair(capacity: 8)
          calls.offer(far)
          return near
        }
        defer {
          calls.finish()
          group.cancelAll()
        }
        do throws(UpdateFault) { return .success(try await body(dialer, clock)) } catch {
          return .failure(error)
        }
      }
    }
  }

  private func serve(_ link: any Link, clock: any LinkClock) async {
    let value = AttributeValue.written { [self] bytes, context in
      guard let message = try? SMPMessage(decoding: bytes), let call = try? SMPCall(message),
        let answer = answer(call, message)
      else { return nil }
      let encoded = answer.encoded
      let size = context.mtu.bytes - 3
      for start in stride(from: 0, to: encoded.count, by: size) {
        server.notify(
          AttributeHandle(3), Array(encoded[start..<min(encoded.count, start + size)]))
      }
      return nil
    }
    server.install(
      AttributeTable(services: [
        LocalService(
          SMPService.service,
          characteristics: [
            LocalCharacteristic(
              SMPService.characteristic, properties: [.writeWithoutResponse, .notify],
              value: value)
          ])
      ]))
    _ = await server.serve(link, clock: clock)
  }
}
