import OtaflashATT
import OtaflashGATT
import OtaflashUpdate

/// The console of one device, across lost connections.
package struct DeviceConsole: Sendable {
  package enum Fault: Error, Sendable {
    case absent(ConsoleAbsence)
    case shell(UpdateFault)
    case link(PeripheralFault)
  }

  private enum Route: Sendable {
    case text(from: DiscoveredCharacteristic, to: DiscoveredCharacteristic?)
    case shell(ShellSession)
  }

  /// The time after which a line without an end, for example a prompt, is shown.
  private static let unfinishedLimit = Duration.milliseconds(300)
  private static let reconnection = ReconnectionStrategy.exponential(
    ceiling: .seconds(3), attempts: .max)

  private let channel: ConsoleChannel
  private let clock: any LinkClock
  private let observe: @Sendable (ConsoleEvent) -> Void

  package init(
    _ channel: ConsoleChannel, clock: any LinkClock,
    observe: @escaping @Sendable (ConsoleEvent) -> Void
  ) {
    self.channel = channel
    self.clock = clock
    self.observe = observe
  }

  /// Shows the console until the task is cancelled; a shell also ends after the last line.
  ///
  /// - Parameter lines: the lines to send; finished at the end of the input.
  package func run(
    on dialer: Dialer, sending lines: Mailbox<String>
  ) async throws(Fault) {
    let result: Result<Void, Fault>
    do throws(PeripheralFault) {
      result = try await withPeripheral(dialer, clock: clock) {
        (peripheral) async throws(PeripheralFault) -> Result<Void, Fault> in
        try await peripheral.keepingConnected(Self.reconnection, reporting: { report($0) }) {
          (client) async throws(GATTFault) -> Result<Void, Fault> in
          try await serve(client, lines)
        }
      }
    } catch {
      guard !Task.isCancelled else { return }
      throw .link(error)
    }
    guard !Task.isCancelled else { return }
    try result.get()
  }

  private func report(_ event: ReconnectionEvent) {
    if case .willReconnect(1, _, _, let cause) = event { observe(.lost(cause.summary)) }
  }

  /// Shows the console on one connection.
  private func serve(
    _ client: GATTClient, _ lines: Mailbox<String>
  ) async throws(GATTFault) -> Result<Void, Fault> {
    _ = try await client.requestMTU()
    do throws(Fault) {
      switch try await route(on: client) {
      case .shell(let shell):
        observe(.opened("SMP shell"))
        while let line = await lines.next() { try await answer(line, shell) }
      case .text(let source, let target):
        let stream = try await Self.link { () async throws(GATTFault) in
          try await client.subscribe(to: source)
        }
        observe(.opened(source.uuid == NordicUART.transmit ? "Nordic UART" : "\(source.uuid)"))
        try await converse(client, stream, target, lines)
      }
      return .success(())
    } catch {
      if case .link(.gatt(let fault)) = error { throw fault }
      return .failure(error)
    }
  }

  private static func link<Value>(
    _ body: () async throws(GATTFault) -> Value
  ) async throws(Fault) -> Value {
    do throws(GATTFault) { return try await body() } catch { throw .link(.gatt(error)) }
  }

  private func route(on client: GATTClient) async throws(Fault) -> Route {
    var all: [DiscoveredCharacteristic] = []
    try await Self.link { () async throws(GATTFault) in
      for service in try await client.services() {
        all += try await client.characteristics(of: service)
      }
    }
    func found(_ uuid: BluetoothUUID) -> DiscoveredCharacteristic? { all.first { $0.uuid == uuid } }
    let sources = all.filter { !$0.properties.isDisjoint(with: [.notify, .indicate]) }
    if case .characteristic(let uuid) = channel,
      let source = sources.first(where: { $0.uuid == uuid })
    {
      return .text(from: source, to: source)
    }
    if channel == .automatic || channel == .nordicUART, let source = found(NordicUART.transmit) {
      return .text(from: source, to: found(NordicUART.receive))
    }
    if channel == .automatic || channel == .shell, found(SMPService.characteristic) != nil {
      do throws(UpdateFault) {
        return .shell(try await ShellSession(on: client, clock: clock))
      } catch {
        throw Self.fault(error)
      }
    }
    throw .absent(
      ConsoleAbsence(wanted: channel.name, candidates: sources.map { "\($0.uuid)" }))
  }

  private static func fault(_ fault: UpdateFault) -> Fault {
    if case .gatt(_, let fault) = fault { .link(.gatt(fault)) } else { .shell(fault) }
  }

  // MARK: The shell

  private func answer(_ line: String, _ shell: ShellSession) async throws(Fault) {
    observe(.sent(line))
    do throws(UpdateFault) {
      let output = try await shell.run(line)
      var assembler = LineAssembler()
      for line in assembler.take(output.text.utf8) { observe(.received(line)) }
      if let rest = assembler.flush() { observe(.received(rest)) }
      if output.code != 0 { observe(.returned(output.code)) }
    } catch {
      throw Self.fault(error)
    }
  }

  // MARK: Text

  private func converse(
    _ client: GATTClient, _ stream: NotificationStream, _ target: DiscoveredCharacteristic?,
    _ lines: Mailbox<String>
  ) async throws(Fault) {
    let result = await withTaskGroup(
      of: Result<Void, Fault>?.self, returning: Result<Void, Fault>.self
    ) { group in
      group.addTask { await Self.result { () async throws(Fault) in try await read(stream) } }
      group.addTask {
        let result = await Self.result { () async throws(Fault) in
          try await write(lines, to: target, client)
        }
        // The end of the input does not end the log.
        if case .success = result { return nil }
        return result
      }
      defer { group.cancelAll() }
      while let part = await group.next() {
        if let part { return part }
      }
      return .success(())
    }
    try result.get()
  }

  private static func result(
    _ body: () async throws(Fault) -> Void
  ) async -> Result<Void, Fault> {
    do throws(Fault) { return .success(try await body()) } catch { return .failure(error) }
  }

  private func read(_ stream: NotificationStream) async throws(Fault) {
    var assembler = LineAssembler()
    while true {
      let limit = assembler.isUnfinished ? Self.unfinishedLimit : .seconds(3600)
      do throws(GATTFault) {
        let element = try await withDeadline(
          clock.now.advanced(by: limit), on: clock, orThrow: GATTFault.timedOut(after: limit)
        ) { () async throws(GATTFault) -> NotificationStream.Element? in try await stream.next() }
        guard let element else { throw .unsubscribed }
        if element.lostBefore > 0 { observe(.dropped(element.lostBefore)) }
        for line in assembler.take(element.value) { observe(.received(line)) }
      } catch .timedOut {
        if let line = assembler.flush() { observe(.received(line)) }
      } catch {
        if let line = assembler.flush() { observe(.received(line)) }
        throw .link(.gatt(error))
      }
    }
  }

  private func write(
    _ lines: Mailbox<String>, to target: DiscoveredCharacteristic?, _ client: GATTClient
  ) async throws(Fault) {
    while let line = await lines.next() {
      let withResponse = target?.properties.contains(.write) ?? false
      guard let target, withResponse || target.properties.contains(.writeWithoutResponse) else {
        observe(.notSent(line, because: "the characteristic cannot be written"))
        continue
      }
      let bytes = Array((line + "\n").utf8)
      let size = client.maximumWriteValueLength(for: .withoutResponse)
      try await Self.link { () async throws(GATTFault) in
        for first in stride(from: 0, to: bytes.count, by: size) {
          let part = Array(bytes[first..<min(first + size, bytes.count)])
          if withResponse {
            try await client.write(part, to: target)
          } else {
            try await client.writeWithoutResponse(part, to: target)
          }
        }
      }
      observe(.sent(line))
    }
  }
}
