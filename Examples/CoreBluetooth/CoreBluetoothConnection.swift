@preconcurrency import CoreBluetooth
import Foundation
import OtaflashGATT
import Synchronization

/// A connection of Core Bluetooth as a link: a GATT server in memory has the services of the
/// device, and its handlers read and write the device's characteristics.
final class CoreBluetoothConnection: NSObject, CBPeripheralDelegate, Sendable {
  /// The awaited callback. The server processes one request at a time, so there is only one.
  private enum Expectation: Equatable {
    case connection
    case services
    case characteristics(ObjectIdentifier)
    case value(ObjectIdentifier)
    case written(ObjectIdentifier)
    case room
  }

  private struct State {
    var pending: (Expectation, Callback)?
    var loss: LinkLoss?
    var watchers: [Callback] = []
    var end: MemoryLink?
    var server: GATTServer?
    var handles: [ObjectIdentifier: AttributeHandle] = [:]
  }

  /// The maximum number of notifications that wait for a slow reader.
  private static let valuesMaximum = 1024

  private let peripheral: CBPeripheral
  private let manager: CBCentralManager
  private let perform: CoreBluetoothCentral.Perform
  private let state = Mutex(State())

  init(
    _ peripheral: CBPeripheral, of manager: CBCentralManager,
    _ perform: @escaping CoreBluetoothCentral.Perform
  ) {
    self.peripheral = peripheral
    self.manager = manager
    self.perform = perform
  }

  // MARK: Life

  /// Connects, discovers, and returns the host's end of the link. A task serves the other end until
  /// the link is closed, and then ends the connection.
  func open(
    clock: any LinkClock, executor: (any TaskExecutor)?
  ) async throws(ConnectFault) -> any Link {
    do throws(BridgeFault) {
      _ = try await call(.connection) { $1.connect($0) }
      _ = try await call(.services) { $0.discoverServices(nil) }
      for service in peripheral.services ?? [] {
        _ = try await call(.characteristics(ObjectIdentifier(service))) {
          $0.discoverCharacteristics(nil, for: service)
        }
      }
    } catch {
      throw error.connectFault
    }
    // The system has exchanged the MTU; 3 bytes of it are the header of a write.
    let mtu = ATTMTU(clamping: peripheral.maximumWriteValueLength(for: .withoutResponse) + 3)
    let (host, end) = MemoryLink.pair(maximumPDUSize: mtu.bytes)
    let server = GATTServer(
      table: AttributeTable(services: []), receiveMTU: mtu, valuesMaximum: Self.valuesMaximum
    ) { [weak self] event in
      if case .configured(_, let handle, let configuration) = event {
        self?.configure(handle, configuration)
      }
    }
    server.install(table())
    let loss = state.withLock { state in
      (state.end, state.server) = (end, server)
      return state.loss
    }
    if let loss { throw .lostWhileConnecting(loss) }
    Task(executorPreference: executor) { [self] in
      _ = await server.serve(end, clock: clock)
      cancel()
    }
    return host
  }

  /// Ends the connection from the host.
  func cancel() {
    perform { [manager, peripheral] in
      if peripheral.state != .disconnected { manager.cancelPeripheralConnection(peripheral) }
    }
  }

  func connected() {
    peripheral.delegate = self
    complete(.connection, nil)
  }

  /// - Parameter error: the system's error; `nil` if the host ended the connection.
  func disconnected(because error: (any Error)?) {
    let loss = LinkLoss(coreBluetooth: error)
    let (waiting, end) = state.withLock { state in
      if state.loss == nil { state.loss = loss }
      defer { state.watchers = [] }
      return (state.watchers + [state.pending.take()?.1].compactMap { $0 }, state.end)
    }
    for callback in waiting { callback.end(.failure(.lost(loss))) }
    if loss == .supervisionTimeout { end?.loseSupervision() } else { end?.close() }
  }

  /// Waits until the connection has ended. Returns `false` if the task was cancelled before.
  func waitUntilEnded() async -> Bool {
    let callback = Callback()
    let hasEnded = state.withLock { state in
      if state.loss == nil { state.watchers.append(callback) }
      return state.loss != nil
    }
    return if hasEnded { true } else { await callback.result() != .failure(.cancelled) }
  }

  // MARK: The table

  private func table() -> AttributeTable {
    let found = peripheral.services ?? []
    let services = found.map { service in
      LocalService(
        BluetoothUUID(service.uuid), isPrimary: service.isPrimary,
        characteristics: (service.characteristics ?? []).map(characteristic))
    }
    let table = AttributeTable(services: services)
    state.withLock { state in
      for (place, service) in found.enumerated() {
        for (index, characteristic) in (service.characteristics ?? []).enumerated() {
          state.handles[ObjectIdentifier(characteristic)] =
            table.handle(ofCharacteristic: index, inService: place)
        }
      }
    }
    return table
  }

  private func characteristic(_ characteristic: CBCharacteristic) -> LocalCharacteristic {
    let known: CharacteristicProperties = [
      .read, .write, .writeWithoutResponse, .notify, .indicate,
    ]
    let properties = CharacteristicProperties(
      rawValue: UInt8(truncatingIfNeeded: characteristic.properties.rawValue))
    return LocalCharacteristic(
      BluetoothUUID(characteristic.uuid), properties: properties.intersection(known),
      value: .asynchronous(
        read: { [self] context in await read(characteristic, context) },
        write: { [self] value, context in await write(value, to: characteristic, context) }))
  }

  // MARK: Operations

  /// The parts of a long value are from one read of the device.
  private func read(
    _ characteristic: CBCharacteristic, _ context: AttributeContext
  ) async -> Result<[UInt8], ATTErrorCode> {
    if context.offset > 0, let value = characteristic.value { return .success(Array(value)) }
    do throws(BridgeFault) {
      let value = try await call(.value(ObjectIdentifier(characteristic))) {
        $0.readValue(for: characteristic)
      }
      return .success(value)
    } catch {
      return .failure(error.code)
    }
  }

  private func write(
    _ value: [UInt8], to characteristic: CBCharacteristic, _ context: AttributeContext
  ) async -> ATTErrorCode? {
    do throws(BridgeFault) {
      if context.isCommand {
        // A command has no response: its flow control is the system's queue.
        if !peripheral.canSendWriteWithoutResponse {
          _ = try await call(.room) { [self] in
            if $0.canSendWriteWithoutResponse { complete(.room, nil) }
          }
        }
        perform { [peripheral] in
          peripheral.writeValue(Data(value), for: characteristic, type: .withoutResponse)
        }
      } else {
        _ = try await call(.written(ObjectIdentifier(characteristic))) {
          $0.writeValue(Data(value), for: characteristic, type: .withResponse)
        }
      }
      return nil
    } catch {
      return error.code
    }
  }

  private func configure(_ handle: AttributeHandle, _ configuration: ClientConfiguration) {
    let identifier = state.withLock { $0.handles.first { $0.value == handle }?.key }
    for service in peripheral.services ?? [] {
      for characteristic in service.characteristics ?? []
      where ObjectIdentifier(characteristic) == identifier {
        perform { [peripheral] in
          peripheral.setNotifyValue(!configuration.isEmpty, for: characteristic)
        }
      }
    }
  }

  /// Passes to the library a value that the device has sent.
  private func deliver(_ characteristic: CBCharacteristic) {
    let (server, handle) = state.withLock { state in
      (state.server, state.handles[ObjectIdentifier(characteristic)])
    }
    guard let server, let handle, let value = characteristic.value else { return }
    let isNotified = characteristic.properties.contains(.notify)
    func offer(_ value: [UInt8]) -> ValueOutcome {
      isNotified ? server.notify(handle, value) : server.indicate(handle, value)
    }
    var outcome = offer(Array(value))
    // Same as on the device: one PDU carries no more (Core 5.4, Vol 3, Part F, 3.4.7.1).
    if case .tooLong(let limit) = outcome { outcome = offer(Array(value.prefix(limit))) }
    // The connection ends instead of losing a value silently.
    if case .queueFull = outcome { cancel() }
  }

  // MARK: Callbacks

  private func call(
    _ expectation: Expectation,
    _ start: @escaping @Sendable (CBPeripheral, CBCentralManager) -> Void
  ) async throws(BridgeFault) -> [UInt8] {
    let callback = Callback()
    let loss = state.withLock { state in
      state.pending = (expectation, callback)
      return state.loss
    }
    if let loss { throw .lost(loss) }
    perform { [peripheral, manager] in start(peripheral, manager) }
    return try await callback.result().get()
  }

  private func call(
    _ expectation: Expectation, _ start: @escaping @Sendable (CBPeripheral) -> Void
  ) async throws(BridgeFault) -> [UInt8] {
    try await call(expectation) { peripheral, _ in start(peripheral) }
  }

  /// `false` if nothing waits for this callback.
  @discardableResult
  private func complete(
    _ expectation: Expectation, _ error: (any Error)?, value: Data? = nil
  ) -> Bool {
    let callback = state.withLock { state -> Callback? in
      guard let pending = state.pending, pending.0 == expectation else { return nil }
      state.pending = nil
      return pending.1
    }
    guard let callback else { return false }
    callback.end(error.map { .failure(BridgeFault($0)) } ?? .success(Array(value ?? Data())))
    return true
  }

  func peripheral(_ peripheral: CBPeripheral, didDiscoverServices error: (any Error)?) {
    complete(.services, error)
  }

  func peripheral(
    _ peripheral: CBPeripheral, didDiscoverCharacteristicsFor service: CBService,
    error: (any Error)?
  ) {
    complete(.characteristics(ObjectIdentifier(service)), error)
  }

  /// Core Bluetooth reports a notification and the response to a read with this same callback. While
  /// a read waits, a notified value therefore completes the read, and the response to the read is
  /// then delivered as a notification.
  func peripheral(
    _ peripheral: CBPeripheral, didUpdateValueFor characteristic: CBCharacteristic,
    error: (any Error)?
  ) {
    let expectation = Expectation.value(ObjectIdentifier(characteristic))
    if complete(expectation, error, value: characteristic.value) || error != nil { return }
    deliver(characteristic)
  }

  func peripheral(
    _ peripheral: CBPeripheral, didWriteValueFor characteristic: CBCharacteristic,
    error: (any Error)?
  ) {
    complete(.written(ObjectIdentifier(characteristic)), error)
  }

  /// The server has already accepted the subscription, so a refusal by the device ends the
  /// connection.
  func peripheral(
    _ peripheral: CBPeripheral, didUpdateNotificationStateFor characteristic: CBCharacteristic,
    error: (any Error)?
  ) {
    if error != nil { cancel() }
  }

  func peripheralIsReady(toSendWriteWithoutResponse peripheral: CBPeripheral) {
    complete(.room, nil)
  }

  /// The library discovers again on the next connection.
  func peripheral(_ peripheral: CBPeripheral, didModifyServices invalidatedServices: [CBService]) {
    cancel()
  }
}
