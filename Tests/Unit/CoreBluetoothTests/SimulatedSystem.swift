@preconcurrency import CoreBluetooth
import Foundation
import OtaflashGATT
import Synchronization

/// Core Bluetooth's system on links of the library: it connects to devices, exchanges the MTU, and
/// performs the operations of each connection in order.
///
/// Like the real system, the mock hides the services GAP and GATT, ignores operations on a
/// peripheral that is not connected, and drops writes without response while its buffer is full.
final class SimulatedSystem: MockSystem {
  /// A device in range.
  struct Device: Sendable {
    let identifier: UUID
    let advertisementData: @Sendable () -> [String: Any]
    let connect: @Sendable () async throws(ConnectFault) -> any Link
  }

  /// A connection, or a connection attempt.
  final class Session: Sendable {
    typealias Operation = @Sendable (GATTClient) async -> Void

    struct State {
      var isCancelled = false
      var commandCount = 0
      var found: [ObjectIdentifier: DiscoveredCharacteristic] = [:]
      var services: [ObjectIdentifier: DiscoveredService] = [:]
      var subscriptions: [ObjectIdentifier: Task<Void, Never>] = [:]
    }

    let operations = Mailbox<Operation>(capacity: 4096)
    let state = Mutex(State())
  }

  private struct State {
    var peripherals: [UUID: CBPeripheral] = [:]
    var sessions: [UUID: (session: Session, task: Task<Void, Never>)] = [:]
    var scan: Task<Void, Never>?
    var log: [String] = []
  }

  /// The number of write commands that the system buffers.
  static let roomForCommands = 1
  private static let commandTime = Duration.milliseconds(15)
  /// The ATT_MTU that the system requests.
  static let mtu = 185
  private static let hidden = [BluetoothUUID(0x1800), BluetoothUUID(0x1801)]

  private let devices: [Device]
  private let clock: any LinkClock
  private let executor: (any TaskExecutor)?
  private let deliver: @Sendable (@escaping @Sendable () -> Void) -> Void
  private let state = Mutex(State())

  /// - Parameters:
  ///   - clock: the clock of the devices.
  ///   - executor: runs the connections.
  ///   - deliver: calls a delegate, on the manager's queue.
  init(
    _ devices: [Device], clock: any LinkClock, executor: (any TaskExecutor)?,
    deliver: @escaping @Sendable (@escaping @Sendable () -> Void) -> Void = { $0() }
  ) {
    self.devices = devices
    self.clock = clock
    self.executor = executor
    self.deliver = deliver
  }

  /// The operations that the app has requested; `dropped` is a write command without space.
  var log: [String] { state.withLock { $0.log } }

  private func note(_ operation: String) { state.withLock { $0.log.append(operation) } }

  func setState(_ new: CBManagerState, of manager: CBCentralManager) {
    deliver {
      manager.state = new
      manager.delegate?.centralManagerDidUpdateState(manager)
    }
  }

  // MARK: Scanning

  func startScan(for manager: CBCentralManager, services: [CBUUID], allowDuplicates: Bool) {
    note("scan")
    let scan = Task(executorPreference: executor) { [self] in
      repeat {
        for device in devices {
          guard let peripheral = peripheral(device.identifier) else { continue }
          deliver {
            manager.delegate?.centralManager(
              manager, didDiscover: peripheral, advertisementData: device.advertisementData(),
              rssi: -47)
          }
        }
      } while await clock.pause(for: .milliseconds(100))
    }
    state.withLock { $0.scan = scan }
  }

  func stopScan(for manager: CBCentralManager) {
    note("stop scan")
    state.withLock { $0.scan.take() }?.cancel()
  }

  func peripheral(_ identifier: UUID) -> CBPeripheral? {
    guard devices.contains(where: { $0.identifier == identifier }) else { return nil }
    return state.withLock { state in
      if let known = state.peripherals[identifier] { return known }
      let peripheral = CBPeripheral(identifier: identifier, name: "Known", system: self)
      state.peripherals[identifier] = peripheral
      return peripheral
    }
  }

  // MARK: Connections

  func connect(_ peripheral: CBPeripheral, for manager: CBCentralManager) {
    note("connect")
    guard let device = devices.first(where: { $0.identifier == peripheral.identifier }) else {
      return
    }
    let session = Session()
    let task = Task(executorPreference: executor) { [self] in
      await run(session, to: device, peripheral, manager)
    }
    state.withLock { $0.sessions[peripheral.identifier] = (session, task) }
  }

  func disconnect(_ peripheral: CBPeripheral, for manager: CBCentralManager) {
    note("disconnect")
    guard let (session, task) = state.withLock({ $0.sessions[peripheral.identifier] }) else {
      return
    }
    session.state.withLock { $0.isCancelled = true }
    session.operations.finish()
    // Earlier requests are still sent on a connection, but a connection attempt ends immediately.
    if peripheral.mtu == 0 { task.cancel() }
  }

  private func run(
    _ session: Session, to device: Device, _ peripheral: CBPeripheral, _ manager: CBCentralManager
  ) async {
    peripheral.mtu = 0
    let link: any Link
    do throws(ConnectFault) { link = try await device.connect() } catch {
      // A connection attempt that the app has cancelled is also reported as failed.
      deliver {
        peripheral.state = .disconnected
        manager.delegate?.centralManager(
          manager, didFailToConnect: peripheral, error: Self.failure(.connectionFailed))
      }
      return
    }
    let bearer = ATTBearer(link: link, clock: clock)
    let client = GATTClient(bearer: bearer, followsServiceChanges: false)
    let cause = await withTaskGroup(of: GATTFault.self, returning: GATTFault.self) { group in
      group.addTask {
        let cause = await bearer.run()
        session.operations.finish()
        return cause
      }
      await serve(session, client, peripheral, manager)
      bearer.end(because: .linkLost(.closedLocally))
      return await group.next() ?? .cancelled
    }
    for task in session.state.withLock({ $0.subscriptions.values }) { task.cancel() }
    let isCancelled = session.state.withLock { $0.isCancelled }
    let isSilent = cause == .linkLost(.supervisionTimeout)
    deliver {
      peripheral.state = .disconnected
      peripheral.canSendWriteWithoutResponse = false
      manager.delegate?.centralManager(
        manager, didDisconnectPeripheral: peripheral,
        error: isCancelled
          ? nil : Self.failure(isSilent ? .connectionTimeout : .peripheralDisconnected))
    }
  }

  private func serve(
    _ session: Session, _ client: GATTClient, _ peripheral: CBPeripheral,
    _ manager: CBCentralManager
  ) async {
    do throws(GATTFault) { peripheral.mtu = try await client.requestMTU(Self.mtu) } catch { return }
    deliver {
      peripheral.state = .connected
      peripheral.services = nil
      peripheral.canSendWriteWithoutResponse = true
      manager.delegate?.centralManager(manager, didConnect: peripheral)
    }
    while let operation = await session.operations.next() { await operation(client) }
  }

  private static func failure(_ code: CBError.Code) -> NSError {
    NSError(domain: CBErrorDomain, code: code.rawValue)
  }

  private static func failure(_ fault: GATTFault) -> NSError {
    guard case .refused(_, let code) = fault else { return failure(.peripheralDisconnected) }
    return NSError(domain: CBATTErrorDomain, code: Int(code.rawValue))
  }

  // MARK: Operations

  private func add(
    _ name: String, to peripheral: CBPeripheral,
    _ operation: @escaping @Sendable (Session, GATTClient) async throws(GATTFault) -> Void,
    _ report: @escaping @Sendable ((any CBPeripheralDelegate)?, NSError?) -> Void
  ) {
    note(name)
    guard peripheral.state == .connected,
      let session = state.withLock({ $0.sessions[peripheral.identifier] })?.session
    else { return }
    session.operations.offer { [deliver] client in
      var failure: NSError?
      do throws(GATTFault) { try await operation(session, client) } catch {
        failure = Self.failure(error)
      }
      deliver { [failure] in report(peripheral.delegate, failure) }
    }
  }

  func discoverServices(of peripheral: CBPeripheral, _ uuids: [CBUUID]) {
    add("discover services", to: peripheral) { session, client throws(GATTFault) in
      let found = try await client.services().filter { !Self.hidden.contains($0.uuid) }
      peripheral.services = found.map { service in
        let shown = CBService(
          uuid: Self.uuid(service.uuid), isPrimary: true, peripheral: peripheral)
        session.state.withLock { $0.services[ObjectIdentifier(shown)] = service }
        return shown
      }
    } _: { delegate, failure in
      delegate?.peripheral(peripheral, didDiscoverServices: failure)
    }
  }

  func discoverCharacteristics(
    of service: CBService, on peripheral: CBPeripheral, _ uuids: [CBUUID]
  ) {
    add("discover characteristics", to: peripheral) { session, client throws(GATTFault) in
      let identifier = ObjectIdentifier(service)
      guard let found = session.state.withLock({ $0.services[identifier] }) else { return }
      service.characteristics = try await client.characteristics(of: found).map { characteristic in
        let shown = CBCharacteristic(
          uuid: Self.uuid(characteristic.uuid),
          properties: CBCharacteristicProperties(
            rawValue: UInt(characteristic.properties.rawValue)), service: service)
        session.state.withLock { $0.found[ObjectIdentifier(shown)] = characteristic }
        return shown
      }
    } _: { delegate, failure in
      delegate?.peripheral(peripheral, didDiscoverCharacteristicsFor: service, error: failure)
    }
  }

  func read(_ characteristic: CBCharacteristic, on peripheral: CBPeripheral) {
    let identifier = ObjectIdentifier(characteristic)
    add("read", to: peripheral) { session, client throws(GATTFault) in
      guard let found = session.state.withLock({ $0.found[identifier] }) else { return }
      characteristic.value = Data(try await client.read(found))
    } _: { delegate, failure in
      delegate?.peripheral(peripheral, didUpdateValueFor: characteristic, error: failure)
    }
  }

  func write(
    _ value: Data, to characteristic: CBCharacteristic, _ type: CBCharacteristicWriteType,
    on peripheral: CBPeripheral
  ) {
    let identifier = ObjectIdentifier(characteristic)
    guard type == .withoutResponse else {
      return add("write", to: peripheral) { session, client throws(GATTFault) in
        guard let found = session.state.withLock({ $0.found[identifier] }) else { return }
        try await client.write(Array(value), to: found)
      } _: { delegate, failure in
        delegate?.peripheral(peripheral, didWriteValueFor: characteristic, error: failure)
      }
    }
    guard let session = state.withLock({ $0.sessions[peripheral.identifier] })?.session,
      peripheral.canSendWriteWithoutResponse
    else { return note("dropped") }
    let count = session.state.withLock { state in
      state.commandCount += 1
      return state.commandCount
    }
    peripheral.canSendWriteWithoutResponse = count < Self.roomForCommands
    add("command", to: peripheral) { [clock] session, client throws(GATTFault) in
      defer { session.state.withLock { $0.commandCount -= 1 } }
      guard let found = session.state.withLock({ $0.found[identifier] }) else { return }
      try await client.writeWithoutResponse(Array(value), to: found)
      // The buffer has space again after the radio has sent the command.
      _ = await clock.pause(for: Self.commandTime)
    } _: { delegate, _ in
      guard !peripheral.canSendWriteWithoutResponse else { return }
      peripheral.canSendWriteWithoutResponse = true
      delegate?.peripheralIsReady(toSendWriteWithoutResponse: peripheral)
    }
  }

  func setNotify(
    _ enabled: Bool, for characteristic: CBCharacteristic, on peripheral: CBPeripheral
  ) {
    let identifier = ObjectIdentifier(characteristic)
    add(enabled ? "subscribe" : "unsubscribe", to: peripheral) {
      [self] session, client throws(GATTFault) in
      guard let found = session.state.withLock({ $0.found[identifier] }) else { return }
      if enabled {
        let stream = try await client.subscribe(to: found, buffering: 4096)
        let reader = Task(executorPreference: executor) { [self] in
          await pass(stream, characteristic, peripheral)
        }
        session.state.withLock { $0.subscriptions[identifier] = reader }
      } else {
        session.state.withLock { $0.subscriptions.removeValue(forKey: identifier) }?.cancel()
        try await client.unsubscribe(from: found)
      }
      characteristic.isNotifying = enabled
    } _: { delegate, failure in
      delegate?.peripheral(
        peripheral, didUpdateNotificationStateFor: characteristic, error: failure)
    }
  }

  private func pass(
    _ stream: NotificationStream, _ characteristic: CBCharacteristic, _ peripheral: CBPeripheral
  ) async {
    while true {
      do throws(GATTFault) {
        guard let element = try await stream.next() else { return }
        deliver {
          characteristic.value = Data(element.value)
          peripheral.delegate?.peripheral(
            peripheral, didUpdateValueFor: characteristic, error: nil)
        }
      } catch {
        return
      }
    }
  }

  static func uuid(_ uuid: BluetoothUUID) -> CBUUID {
    CBUUID(data: Data(uuid.littleEndian.reversed()))
  }
}
