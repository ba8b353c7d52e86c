import OtaflashATT

/// What one does with a peripheral, by its own queue or by a decorated one.
extension CommandPerformer where Context == PeripheralTurn {
  /// Runs one piece of work on the connection in its turn, and connects first where needed.
  ///
  /// - Parameters:
  ///   - name: for the log, and for decorators.
  ///   - limit: the longest time from its turn on, connecting included; then it fails with
  ///     `.gatt(.timedOut)`.
  ///   - body: the work on the connection; nothing of the queue comes between.
  public func perform<Output: Sendable>(
    _ name: String, within limit: Duration? = nil,
    _ body: @escaping @Sendable (GATTClient) async throws(GATTFault) -> Output
  ) async throws(PeripheralFault) -> Output {
    let command = Command(onConnection: name, body)
    do throws(QueueFault<PeripheralFault>) {
      guard let limit else { return try await perform(command) }
      return try await perform(
        command.timeLimit(limit, orThrow: .gatt(.timedOut(after: limit))))
    } catch {
      throw PeripheralFault(error)
    }
  }

  /// As above, for work with errors of its own, which are thrown as they are; those of the
  /// connection are thrown as `PeripheralFault`.
  @_disfavoredOverload
  public func perform<Output: Sendable>(
    _ name: String, within limit: Duration? = nil,
    _ body: @escaping @Sendable (GATTClient) async throws -> Output
  ) async throws -> Output {
    let command = Command(onConnection: name, body)
    do throws(QueueFault<any Error>) {
      guard let limit else { return try await perform(command) }
      return try await perform(
        command.timeLimit(limit, orThrow: PeripheralFault.gatt(.timedOut(after: limit))))
    } catch {
      if case .failed(let error) = error { throw error }
      throw PeripheralFault(error.mapped { .failed(PeripheralFault($0) ?? .queue(.closed)) })
    }
  }

  /// Reads a characteristic in its turn.
  public func read(
    _ characteristic: BluetoothUUID, in service: BluetoothUUID, within limit: Duration? = nil
  ) async throws(PeripheralFault) -> [UInt8] {
    try await perform("read \(characteristic)", within: limit) {
      (client) async throws(GATTFault) -> [UInt8] in
      try await client.read(try await client.characteristic(characteristic, in: service))
    }
  }

  /// Writes a characteristic in its turn and waits for the server's answer.
  public func write(
    _ value: [UInt8], to characteristic: BluetoothUUID, in service: BluetoothUUID,
    within limit: Duration? = nil
  ) async throws(PeripheralFault) {
    try await perform("write \(characteristic)", within: limit) {
      (client) async throws(GATTFault) in
      try await client.write(
        value, to: try await client.characteristic(characteristic, in: service))
    }
  }

  /// Writes a characteristic in its turn without an answer; returns when the transport has taken
  /// it.
  ///
  /// - Throws: `.valueTooLong` beyond `GATTClient.maximumWriteValueLength(for:)`.
  public func writeWithoutResponse(
    _ value: [UInt8], to characteristic: BluetoothUUID, in service: BluetoothUUID,
    within limit: Duration? = nil
  ) async throws(PeripheralFault) {
    try await perform("write \(characteristic)", within: limit) {
      (client) async throws(GATTFault) in
      try await client.writeWithoutResponse(
        value, to: try await client.characteristic(characteristic, in: service))
    }
  }

  /// Subscribes in its turn; the values then flow beside whatever the queue does.
  ///
  /// - Parameters:
  ///   - characteristic: the first one with this UUID in the service.
  ///   - service: the first one with this UUID.
  ///   - capacity: values kept for a reader that is slow, 1 or more; the oldest are dropped.
  ///   - limit: the longest time from its turn on, connecting included.
  public func subscribe(
    to characteristic: BluetoothUUID, in service: BluetoothUUID,
    buffering capacity: Int = GATTClient.notificationBufferDefault, within limit: Duration? = nil
  ) async throws(PeripheralFault) -> NotificationStream {
    try await perform("subscribe \(characteristic)", within: limit) {
      (client) async throws(GATTFault) -> NotificationStream in
      try await client.subscribe(
        to: try await client.characteristic(characteristic, in: service), buffering: capacity)
    }
  }

  /// Ends every subscription of a characteristic in its turn (`GATTClient.unsubscribe`). Without a
  /// connection there is nothing to end, and none is made.
  public func unsubscribe(
    from characteristic: BluetoothUUID, in service: BluetoothUUID
  ) async throws(PeripheralFault) {
    let command = Command<PeripheralTurn, Void, PeripheralFault>("unsubscribe \(characteristic)") {
      (turn) async throws(PeripheralFault) in
      guard let client = turn.connectedClient else { return }
      do throws(GATTFault) {
        try await client.unsubscribe(
          from: try await client.characteristic(characteristic, in: service))
      } catch {
        throw .gatt(error)
      }
    }
    do throws(QueueFault<PeripheralFault>) { try await perform(command) } catch {
      throw PeripheralFault(error)
    }
  }
}
