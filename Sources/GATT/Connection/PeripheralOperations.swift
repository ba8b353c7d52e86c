import OtaflashATT

/// The operations of a peripheral, on its own queue or on a decorated queue.
extension CommandPerformer where Context == PeripheralTurn {
  /// Runs one piece of work on the connection, after the commands queued before it. Connects first
  /// if needed.
  ///
  /// - Parameters:
  ///   - name: the name in the log and for decorators.
  ///   - limit: the time limit from the start of the work, including the time to connect;
  ///     afterwards the call fails with `.gatt(.timedOut)`.
  ///   - body: the work on the connection; no other command of the queue runs in between.
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

  /// Runs one piece of work that may throw any error. Errors of the work are rethrown unchanged;
  /// errors of the connection are thrown as `PeripheralFault`.
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

  /// Reads a characteristic, after the commands queued before the call.
  public func read(
    _ characteristic: BluetoothUUID, in service: BluetoothUUID, within limit: Duration? = nil
  ) async throws(PeripheralFault) -> [UInt8] {
    try await perform("read \(characteristic)", within: limit) {
      (client) async throws(GATTFault) -> [UInt8] in
      try await client.read(try await client.characteristic(characteristic, in: service))
    }
  }

  /// Writes a characteristic, after the commands queued before the call, and waits for the server's
  /// response.
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

  /// Writes a characteristic without response, after the commands queued before the call; returns
  /// when the transport has accepted the write.
  ///
  /// - Throws: `.gatt(.valueTooLong)` if the value is longer than
  ///   `GATTClient.maximumWriteValueLength(for:)`, and the errors of a connection.
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

  /// Subscribes after the commands queued before the call; the values then arrive concurrently with
  /// later commands.
  ///
  /// - Parameters:
  ///   - characteristic: the first characteristic with this UUID in the service.
  ///   - service: the first service with this UUID that contains the characteristic.
  ///   - capacity: the number of values kept for a slow reader, 1 or more; the oldest values are
  ///     dropped.
  ///   - limit: the time limit from the start of the operation, including the time to connect.
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

  /// Ends all subscriptions of a characteristic, after the commands queued before the call
  /// (`GATTClient.unsubscribe`). Without a connection the call has no effect and does not connect.
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
