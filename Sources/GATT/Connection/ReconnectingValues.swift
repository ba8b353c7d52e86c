import OtaflashATT

extension Peripheral {
  /// Returns the notified or indicated values of a characteristic across lost connections: after
  /// each loss the sequence connects and subscribes again, like `keepingConnected`. The first
  /// `next` connects.
  ///
  /// ```swift
  /// for try await event in sensor.values(of: .measurement, in: .sensor) {
  /// ```
  ///
  /// - Parameters:
  ///   - characteristic: the first characteristic with this UUID in the service.
  ///   - service: the first service with this UUID that contains the characteristic.
  ///   - strategy: the waits, and the number of attempts in a row. The count restarts when a
  ///     connection has lasted longer than the strategy's longest wait.
  ///   - adapter: the source of the adapter state. While the adapter is switched off, the sequence
  ///   waits without a limit. `nil`: the sequence ends if the adapter is off.
  ///   - capacity: the number of values kept for a slow reader, 1 or more; the oldest values are
  ///     dropped and counted.
  ///   - observe: called with each event. It must return quickly.
  public func values(
    of characteristic: BluetoothUUID, in service: BluetoothUUID,
    reconnecting strategy: ReconnectionStrategy = .exponential(attempts: .max),
    waitingFor adapter: (any AdapterMonitor)? = nil,
    buffering capacity: Int = GATTClient.notificationBufferDefault,
    reporting observe: @escaping @Sendable (ReconnectionEvent) -> Void = { _ in }
  ) -> ReconnectingValues {
    ReconnectingValues(
      peripheral: self, characteristic: characteristic, service: service, strategy: strategy,
      adapter: adapter, capacity: capacity, observe: observe)
  }
}

/// The values of a characteristic across several connections (`Peripheral.values`).
///
/// The sequence ends by throwing `PeripheralFault`: the last failure if no attempt is left, or
/// immediately a failure that a new connection cannot fix. Each iterator subscribes separately, and
/// only one task may use an iterator.
public struct ReconnectingValues: AsyncSequence, Sendable {
  /// An element of the sequence.
  public enum Element: Equatable, Sendable {
    /// A value. `lostBefore` values before it were dropped because the reader was slow.
    case value([UInt8], lostBefore: Int)
    /// The connection was established again by this attempt, 1 or more. Values that the device sent
    /// before the new subscription are missing: read the values that you need.
    case reconnected(attempt: Int)

    /// The value; `nil` for a reconnection.
    public var value: [UInt8]? {
      if case .value(let value, _) = self { value } else { nil }
    }
  }

  let peripheral: Peripheral
  let characteristic: BluetoothUUID
  let service: BluetoothUUID
  let strategy: ReconnectionStrategy
  let adapter: (any AdapterMonitor)?
  let capacity: Int
  let observe: @Sendable (ReconnectionEvent) -> Void

  public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(values: self) }

  /// An iterator that connects, subscribes and waits in the task that calls `next`.
  public struct AsyncIterator: AsyncIteratorProtocol {
    private enum State {
      case disconnected
      case subscribed(NotificationStream, since: LinkInstant)
      case ended
    }

    private let values: ReconnectingValues
    private var state = State.disconnected
    private var attempt = 0

    fileprivate init(values: ReconnectingValues) { self.values = values }

    public mutating func next() async throws(PeripheralFault) -> Element? {
      try await next(isolation: nil)
    }

    public mutating func next(
      isolation actor: isolated (any Actor)?
    ) async throws(PeripheralFault) -> Element? {
      while true {
        do throws(PeripheralFault) {
          switch state {
          case .ended: return nil
          case .disconnected:
            let isAgain = attempt > 0
            let stream = try await values.peripheral.subscribe(
              to: values.characteristic, in: values.service, buffering: values.capacity)
            state = .subscribed(stream, since: values.peripheral.clock.now)
            if isAgain {
              values.observe(.reconnected(attempt: attempt))
              return .reconnected(attempt: attempt)
            }
          case .subscribed(let stream, _):
            if let element = try await Self.next(of: stream) {
              return .value(element.value, lostBefore: element.lostBefore)
            }
            throw .gatt(.unsubscribed)
          }
        } catch {
          try await recover(from: error, isolation: actor)
        }
      }
    }

    private static func next(
      of stream: NotificationStream
    ) async throws(PeripheralFault) -> NotificationStream.Element? {
      do throws(GATTFault) { return try await stream.next() } catch { throw .gatt(error) }
    }

    /// Waits for the next attempt, or ends the sequence with `fault`.
    private mutating func recover(
      from fault: PeripheralFault, isolation actor: isolated (any Actor)?
    ) async throws(PeripheralFault) {
      let (peripheral, strategy) = (values.peripheral, values.strategy)
      if case .subscribed(_, let since) = state,
        since.duration(to: peripheral.clock.now) > strategy.ceiling
      {
        attempt = 0
      }
      state = .disconnected
      let pause = Peripheral.Pause(strategy: strategy, random: nil, adapter: values.adapter)
      guard await peripheral.wait(pause, after: fault, &attempt, reporting: values.observe) else {
        state = .ended
        if !Task.isCancelled { values.observe(.gaveUp(attempts: attempt, cause: fault)) }
        throw fault
      }
    }
  }
}
