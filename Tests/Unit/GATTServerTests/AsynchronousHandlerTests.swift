import OtaflashATT
import OtaflashGATT
import OtaflashTestSupport
import Synchronization
import Testing

/// Tests of handlers that wait (`AttributeValue.asynchronous`).
@Suite(.timeLimit(.minutes(5))) struct AsynchronousHandlerTests {
  private static let service = BluetoothUUID(0xFF00)

  /// A server with three values: handle 3 is read and written by asynchronous handlers; handle 5 is
  /// read by a synchronous handler; handle 7 is stored and notifies (CCCD 8). `reads` records the
  /// calls of the read handlers.
  private final class Device: Sendable {
    let server = GATTServer()
    let clock = ManualClock()
    let reads = Mutex<[String]>([])
    let answers = Mailbox<Result<[UInt8], ATTErrorCode>>(capacity: 8)
    let arrivals = Mailbox<[UInt8]>(capacity: 8)

    init() {
      let waiting = AttributeValue.asynchronous(
        read: { [self] context in
          reads.withLock { $0.append("asynchronous at \(context.offset)") }
          arrivals.offer([])
          return await answers.next() ?? .failure(.unlikelyError)
        },
        write: { [self] value, _ in
          arrivals.offer(value)
          guard case .failure(let code)? = await answers.next() else { return nil }
          return code
        })
      let counted = AttributeValue.computed { [self] _ in
        reads.withLock { $0.append("synchronous") }
        return .success([5])
      }
      server.install(
        AttributeTable(services: [
          LocalService(
            AsynchronousHandlerTests.service,
            characteristics: [
              LocalCharacteristic(
                BluetoothUUID(0xFF01), properties: [.read, .write, .writeWithoutResponse],
                value: waiting),
              LocalCharacteristic(BluetoothUUID(0xFF02), properties: .read, value: counted),
              LocalCharacteristic(
                BluetoothUUID(0xFF03), properties: [.read, .notify, .write],
                value: .stored([7], sizeMaximum: 4)),
            ])
        ]))
    }

    /// Serves one link while `client` runs on the other end of the link.
    func serving(_ client: @Sendable (MemoryLink) async throws -> Void) async throws -> LinkLoss {
      let (host, device) = MemoryLink.pair(capacity: 16)
      async let cause = server.serve(device, clock: clock)
      do {
        try await client(host)
      } catch {
        host.close()
        _ = await cause
        throw error
      }
      host.close()
      return await cause
    }
  }

  @Test func aReadWaitsForItsHandlerAndNotificationsDoNot() async throws {
    let device = Device()
    let cause = try await device.serving { host in
      try await host.send(hex("12 08 00 01 00"))
      #expect(text(try await host.receive()) == "13")
      try await host.send(hex("0A 03 00"))
      _ = await device.arrivals.next()
      #expect(device.server.notify(AttributeHandle(7), [9]) == .queued)
      #expect(text(try await host.receive()) == "1B 07 00 09")
      device.answers.offer(.success([1, 2]))
      #expect(text(try await host.receive()) == "0B 01 02")
    }
    #expect(cause == .closedByPeer)
  }

  @Test func eachHandlerRunsOnceForARequest() async throws {
    let device = Device()
    _ = try await device.serving { host in
      // Read Multiple of the handles 5, 3, 7 and 3 again.
      device.answers.offer(.success([1]))
      device.answers.offer(.success([2]))
      try await host.send(hex("0E 05 00 03 00 07 00 03 00"))
      #expect(text(try await host.receive()) == "0F 05 01 07 02")
    }
    #expect(
      device.reads.withLock { $0 } == ["synchronous", "asynchronous at 0", "asynchronous at 0"])
  }

  @Test func aRefusedWriteChangesNothing() async throws {
    let device = Device()
    _ = try await device.serving { host in
      // Prepared writes to the handles 7 and 3: the handler of 3 refuses, and 7 keeps its value.
      try await host.send(hex("16 07 00 00 00 AA"))
      #expect(text(try await host.receive()) == "17 07 00 00 00 AA")
      try await host.send(hex("16 03 00 00 00 BB"))
      #expect(text(try await host.receive()) == "17 03 00 00 00 BB")
      device.answers.offer(.failure(.valueNotAllowed))
      try await host.send(hex("18 01"))
      #expect(text(try await host.receive()) == "01 18 03 00 13")
      #expect(await device.arrivals.next() == [0xBB])
      try await host.send(hex("0A 07 00"))
      #expect(text(try await host.receive()) == "0B 07")
      // A write to handle 3 without the refusal.
      try await host.send(hex("12 03 00 CC"))
      #expect(await device.arrivals.next() == [0xCC])
      device.answers.offer(.success([]))
      #expect(text(try await host.receive()) == "13")
    }
  }

  /// Commands have no response, but the handler receives them in the order of the commands.
  @Test func writeCommandsWaitForEachOther() async throws {
    let device = Device()
    _ = try await device.serving { host in
      for number in 0..<3 { try await host.send(hex("52 03 00 0\(number)")) }
      for number in 0..<3 {
        #expect(await device.arrivals.next() == [UInt8(number)])
        device.answers.offer(.success([]))
      }
    }
  }

  @Test func aHandlerIsCancelledAfterThirtySeconds() async throws {
    let device = Device()
    _ = try await device.serving { host in
      try await host.send(hex("0A 03 00"))
      _ = await device.arrivals.next()
      await device.clock.sleeper()
      device.clock.advance(by: GATTServer.handlerTimeout)
      #expect(text(try await host.receive()) == "01 0A 03 00 0E")
    }
  }
}
