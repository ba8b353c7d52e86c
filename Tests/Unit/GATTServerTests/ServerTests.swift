import OtaflashATT
import OtaflashGATT
import OtaflashTestSupport
import Synchronization
import Testing

private let notified = AttributeHandle(3)
private let control = AttributeHandle(6)

/// A server with a control point at handle 6, whose write handler the test provides. Handle 3
/// notifies (CCCD 4), and handle 6 indicates (CCCD 7).
private final class Device: Sendable {
  let server: GATTServer
  let clock = ManualClock()
  private let log: Log

  init(
    valuesMaximum: Int = 4,
    onWrite: @escaping @Sendable (GATTServer) -> [ValueOutcome] = { _ in [] }
  ) {
    let log = Log()
    server = GATTServer(valuesMaximum: valuesMaximum) { log.append($0) }
    self.log = log
    server.install(
      AttributeTable(services: [
        LocalService(
          otaService,
          characteristics: [
            LocalCharacteristic(
              BluetoothUUID(0xFF01), properties: [.notify],
              value: .fixed([])),
            LocalCharacteristic(
              BluetoothUUID(0xFF02), properties: [.write, .indicate],
              value: .written { [unowned server] _, _ in
                log.append(onWrite(server))
                return nil
              }),
          ])
      ]))
  }

  var reported: [GATTServerEvent] { log.events }
  var outcomes: [ValueOutcome] { log.outcomes }

  /// Serves one link while `client` runs on the other end of the link; returns the reason for the
  /// end of the link.
  func serving(
    capacity: Int = 16, _ client: @Sendable (MemoryLink) async throws -> Void
  ) async throws -> LinkLoss {
    let (here, there) = MemoryLink.pair(capacity: capacity)
    async let cause = server.serve(here, clock: clock)
    do {
      try await client(there)
    } catch {
      there.close()
      _ = await cause
      throw error
    }
    there.close()
    return await cause
  }
}

private final class Log: Sendable {
  private let state = Mutex<(events: [GATTServerEvent], outcomes: [ValueOutcome])>(([], []))

  var events: [GATTServerEvent] { state.withLock { $0.events } }
  var outcomes: [ValueOutcome] { state.withLock { $0.outcomes } }

  func append(_ event: GATTServerEvent) { state.withLock { $0.events.append(event) } }
  func append(_ more: [ValueOutcome]) { state.withLock { $0.outcomes += more } }
}

/// Returns the error that `body` throws.
private func loss(_ body: () async throws(LinkLoss) -> Void) async -> LinkLoss? {
  do throws(LinkLoss) {
    try await body()
    return nil
  } catch {
    return error
  }
}

extension MemoryLink {
  fileprivate func exchange(_ request: String) async throws -> String {
    try await send(hex(request))
    return text(try await receive())
  }
}

@Suite(.timeLimit(.minutes(20))) struct ServerTests {
  @Test func notificationsOfAHandlerFollowItsResponse() async throws {
    let device = Device { server in
      [server.notify(notified, [1]), server.indicate(control, [2]), server.notify(notified, [3])]
    }
    let cause = try await device.serving { (client) async throws in
      #expect(try await client.exchange("12 04 00 01 00") == "13")
      #expect(try await client.exchange("12 07 00 02 00") == "13")
      for _ in 0..<50 {
        #expect(try await client.exchange("12 06 00 00") == "13")
        #expect(text(try await client.receive()) == "1B 03 00 01")
        #expect(text(try await client.receive()) == "1D 06 00 02")
        #expect(text(try await client.receive()) == "1B 03 00 03")
        try await client.send(hex("1E"))
      }
    }
    #expect(cause == .closedByPeer)
    #expect(device.outcomes == Array(repeating: .queued, count: 150))
  }

  @Test func indicationsWaitForTheirConfirmation() async throws {
    let device = Device { server in
      [server.indicate(control, [1]), server.indicate(control, [2]), server.notify(notified, [3])]
    }
    _ = try await device.serving { client in
      _ = try await client.exchange("12 04 00 01 00")
      _ = try await client.exchange("12 07 00 02 00")
      #expect(try await client.exchange("12 06 00 00") == "13")
      #expect(text(try await client.receive()) == "1D 06 00 01")
      #expect(text(try await client.receive()) == "1B 03 00 03")
      #expect(try await client.exchange("1E") == "1D 06 00 02")
      try await client.send(hex("1E"))
      #expect(try await client.exchange("0A 01 00").hasPrefix("0B"))
    }
    let id = ConnectionID(rawValue: 1)
    #expect(
      device.reported == [
        .connected(id), .configured(id, notified, .notification),
        .configured(id, control, .indication), .confirmed(id, control), .confirmed(id, control),
        .disconnected(id, .closedByPeer),
      ])
  }

  @Test func impossibleValuesAreRejected() async throws {
    let device = Device(valuesMaximum: 2) { server in
      [
        server.indicate(control, [1]), server.notify(notified, [UInt8](repeating: 0, count: 21)),
        server.notify(notified, [1]), server.notify(notified, [2]), server.notify(notified, [3]),
      ]
    }
    #expect(device.server.notify(notified, [1]) == .notConnected)
    _ = try await device.serving { client in
      _ = try await client.exchange("12 04 00 01 00")
      #expect(try await client.exchange("12 06 00 00") == "13")
      #expect(text(try await client.receive()) == "1B 03 00 01")
      #expect(text(try await client.receive()) == "1B 03 00 02")
    }
    #expect(
      device.outcomes
        == [.notSubscribed, .tooLong(limit: 20), .queued, .queued, .queueFull(limit: 2)])
    #expect(device.server.notify(notified, [1]) == .notConnected)
  }

  @Test func subscriptionsAndMTUEndWithTheConnection() async throws {
    let device = Device()
    for number in 1...3 {
      let cause = try await device.serving { (client) async throws in
        #expect(try await client.exchange("0A 04 00") == "0B 00 00")
        #expect(try await client.exchange("02 B9 00") == "03 05 02")
        #expect(try await client.exchange("12 04 00 01 00") == "13")
        #expect(device.server.notify(notified, [UInt8](repeating: 9, count: 182)) == .queued)
        #expect(try await client.receive().count == 185)
      }
      #expect(cause == .closedByPeer)
      #expect(device.reported.last == .disconnected(ConnectionID(rawValue: UInt64(number)), cause))
    }
  }

  @Test func aSlowClientDelaysTheServerAndLosesNothing() async throws {
    let device = Device { server in [server.notify(notified, [7])] }
    _ = try await device.serving(capacity: 1) { client in
      _ = try await client.exchange("12 04 00 01 00")
      async let sent: Void = {
        for _ in 0..<200 { try await client.send(hex("12 06 00 00")) }
      }()
      var responses = 0
      var values = 0
      while responses < 200 {
        switch try ATTPDU(decoding: try await client.receive()) {
        case .response: responses += 1
        default: values += 1
        }
      }
      try await sent
      while values < device.outcomes.count(where: { $0 == .queued }) {
        _ = try await client.receive()
        values += 1
      }
    }
    #expect(device.outcomes.count == 200)
  }

  @Test func anUnconfirmedIndicationEndsTheLink() async throws {
    let device = Device { server in [server.indicate(control, [1])] }
    let cause = try await device.serving { (client) async throws in
      _ = try await client.exchange("12 07 00 02 00")
      _ = try await client.exchange("12 06 00 00")
      _ = try await client.receive()
      await device.clock.sleeper()
      device.clock.advance(by: GATTServer.confirmationTimeout - .nanoseconds(1))
      #expect(try await client.exchange("0A 04 00") == "0B 00 00")
      device.clock.advance(by: .nanoseconds(1))
      #expect(await loss { () throws(LinkLoss) in _ = try await client.receive() } == .closedByPeer)
    }
    #expect(cause == GATTServer.unconfirmed)
  }

  @Test func cancellationEndsTheService() async {
    let device = Device()
    let (here, there) = MemoryLink.pair(capacity: 1)
    let cause = await withTaskGroup(of: LinkLoss.self, returning: LinkLoss?.self) { group in
      group.addTask { await device.server.serve(here, clock: device.clock) }
      group.cancelAll()
      return await group.next()
    }
    #expect(cause == .cancelled)
    #expect(await loss { () throws(LinkLoss) in _ = try await there.receive() } == .closedByPeer)
  }
}
