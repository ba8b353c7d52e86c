@preconcurrency import CoreBluetooth
import Dispatch
import Foundation
import OtaflashGATT
import Synchronization

/// A central on Core Bluetooth. The library uses its links like the links of an adapter.
///
/// Core Bluetooth offers services and characteristics instead of the attribute protocol. Each
/// connection is therefore a link in memory whose other end is a GATT server with the device's
/// table: `CoreBluetoothConnection`.
public final class CoreBluetoothCentral: NSObject, Central, AdapterMonitor,
  CBCentralManagerDelegate,
  Sendable
{
  /// Runs a block on the queue of the manager.
  public typealias Perform = @Sendable (@escaping @Sendable () -> Void) -> Void

  fileprivate struct Scan {
    let continuation: ScanStream<Advertisement>.Continuation
    let filter: AdvertisementFilter
    let eachOnce: Bool
    var reported: Set<Advertisement.ID> = []
  }

  fileprivate struct State {
    var adapter = CBManagerState.unknown
    var scans: [Int: Scan] = [:]
    var monitors: [Int: ScanStream<AdapterState>.Continuation] = [:]
    var readerCount = 0
    /// Core Bluetooth keeps no reference to the peripherals that it reports.
    var peripherals: [Advertisement.ID: CBPeripheral] = [:]
    var connections: [UUID: CoreBluetoothConnection] = [:]

    mutating func newReader() -> Int {
      readerCount += 1
      return readerCount
    }
  }

  public let clock: any LinkClock
  private let manager: CBCentralManager
  private let perform: Perform
  private let executor: (any TaskExecutor)?
  private let state = Mutex(State())

  /// Creates a central with its own manager and queue. If the user has not decided yet whether the
  /// app may use Bluetooth, the system asks for permission.
  public convenience init(clock: any LinkClock = SystemClock()) {
    let queue = DispatchQueue(label: "otaflash.core-bluetooth")
    self.init(CBCentralManager(delegate: nil, queue: queue), clock: clock) { block in
      queue.async(execute: block)
    }
  }

  /// - Parameters:
  ///   - manager: the manager; this central becomes its delegate.
  ///   - clock: for the time limits.
  ///   - executor: runs the servers of the connections; `nil` is the global executor.
  ///   - perform: runs a block on the queue that the manager was created with.
  public init(
    _ manager: CBCentralManager, clock: any LinkClock, executor: (any TaskExecutor)? = nil,
    perform: @escaping Perform
  ) {
    self.manager = manager
    self.clock = clock
    self.executor = executor
    self.perform = perform
    super.init()
    perform { [self] in
      manager.delegate = self
      centralManagerDidUpdateState(manager)
    }
  }

  // MARK: Scanning

  public func advertisements(
    matching filter: AdvertisementFilter, eachOnce: Bool
  ) -> ScanStream<Advertisement> {
    ScanStream { [self] continuation in
      let scan = Scan(continuation: continuation, filter: filter, eachOnce: eachOnce)
      let number = state.withLock { state in
        let number = state.newReader()
        state.scans[number] = scan
        return number
      }
      continuation.onTermination { [self] in
        state.withLock { state in state.scans[number] = nil }
        perform { [self] in updateScan() }
      }
      perform { [self] in updateScan() }
    }
  }

  /// One scan of the manager serves all readers. An app in the background would have to specify
  /// services instead of `nil`.
  private func updateScan() {
    let (adapter, scans) = state.withLock { ($0.adapter, $0.scans) }
    guard adapter == .poweredOn else {
      guard let fault = ScanFault(adapter) else { return }
      for scan in scans.values { scan.continuation.finish(throwing: fault) }
      return
    }
    switch (scans.isEmpty, manager.isScanning) {
    case (false, false):
      manager.scanForPeripherals(
        withServices: nil, options: [CBCentralManagerScanOptionAllowDuplicatesKey: true])
    case (true, true): manager.stopScan()
    case (false, true), (true, false): break
    }
  }

  public func centralManager(
    _ central: CBCentralManager, didDiscover peripheral: CBPeripheral,
    advertisementData: [String: Any], rssi RSSI: NSNumber
  ) {
    let device = Advertisement(
      peripheral.identifier.uuidString, name: peripheral.name, advertisementData, rssi: RSSI)
    let readers = state.withLock { state in
      state.peripherals[device.id] = peripheral
      return state.report(device)
    }
    for reader in readers { reader.yield(device) }
  }

  // MARK: The adapter

  public func adapterStates() -> ScanStream<AdapterState> {
    ScanStream { [self] continuation in
      let (number, adapter) = state.withLock { state in
        let number = state.newReader()
        state.monitors[number] = continuation
        return (number, AdapterState(state.adapter))
      }
      if let adapter { continuation.yield(adapter) }
      continuation.onTermination { [self] in
        state.withLock { state in state.monitors[number] = nil }
      }
    }
  }

  public func centralManagerDidUpdateState(_ central: CBCentralManager) {
    let adapter = central.state
    let (monitors, connections) = state.withLock { $0.change(to: adapter) }
    for connection in connections { connection.disconnected(because: nil) }
    if let state = AdapterState(adapter) {
      for monitor in monitors { monitor.yield(state) }
    }
    updateScan()
  }

  // MARK: Connecting

  /// Connects to a device that the system knows: one that a scan has reported, or one whose
  /// identifier was stored.
  public func connect(
    to device: Advertisement, within limit: Duration
  ) async throws(ConnectFault) -> any Link {
    guard let peripheral = peripheral(device.id) else {
      throw .deviceNotFound(
        cause: "The system does not know the device \(device.id).", remedy: .comeCloser)
    }
    let connection = CoreBluetoothConnection(peripheral, of: manager, perform)
    let timeout = ConnectFault.deviceNotFound(
      cause: "The device did not answer within \(limit).", remedy: .comeCloser)
    do throws(ConnectFault) {
      return try await withDeadline(
        clock.now.advanced(by: limit), on: clock, orThrow: timeout
      ) { [self] () async throws(ConnectFault) -> any Link in
        try await register(connection, for: peripheral.identifier)
        return try await connection.open(clock: clock, executor: executor)
      }
    } catch {
      end(connection, of: peripheral.identifier)
      throw error
    }
  }

  /// Registers a connection after an earlier connection to the device has ended, which needs time
  /// in the system.
  private func register(
    _ connection: CoreBluetoothConnection, for identifier: UUID
  ) async throws(ConnectFault) {
    while true {
      let former = state.withLock { state -> CoreBluetoothConnection? in
        if let former = state.connections[identifier] { return former }
        state.connections[identifier] = connection
        return nil
      }
      guard let former else { return }
      guard await former.waitUntilEnded() else { throw .cancelled }
    }
  }

  private func end(_ connection: CoreBluetoothConnection, of identifier: UUID) {
    let isRegistered = state.withLock { state in
      guard state.connections[identifier] === connection else { return false }
      state.connections[identifier] = nil
      return true
    }
    guard isRegistered else { return }
    connection.disconnected(because: nil)
    connection.cancel()
  }

  private func peripheral(_ id: Advertisement.ID) -> CBPeripheral? {
    if let known = state.withLock({ $0.peripherals[id] }) { return known }
    guard let identifier = UUID(uuidString: id),
      let stored = manager.retrievePeripherals(withIdentifiers: [identifier]).first
    else { return nil }
    state.withLock { $0.peripherals[id] = stored }
    return stored
  }

  private func forget(_ peripheral: CBPeripheral) -> CoreBluetoothConnection? {
    state.withLock { $0.connections.removeValue(forKey: peripheral.identifier) }
  }

  public func centralManager(_ central: CBCentralManager, didConnect peripheral: CBPeripheral) {
    state.withLock { $0.connections[peripheral.identifier] }?.connected()
  }

  public func centralManager(
    _ central: CBCentralManager, didFailToConnect peripheral: CBPeripheral, error: (any Error)?
  ) {
    forget(peripheral)?.disconnected(because: error)
  }

  public func centralManager(
    _ central: CBCentralManager, didDisconnectPeripheral peripheral: CBPeripheral,
    error: (any Error)?
  ) {
    forget(peripheral)?.disconnected(because: error)
  }
}

extension CoreBluetoothCentral.State {
  /// Returns the readers of the new state, and the connections that it ends: the system reports no
  /// disconnections when Bluetooth is switched off.
  fileprivate mutating func change(
    to new: CBManagerState
  ) -> (monitors: [ScanStream<AdapterState>.Continuation], ended: [CoreBluetoothConnection]) {
    guard new != adapter else { return ([], []) }
    adapter = new
    guard new != .poweredOn else { return (Array(monitors.values), []) }
    defer { connections = [:] }
    return (Array(monitors.values), Array(connections.values))
  }

  /// Returns the readers that a device is reported to.
  fileprivate mutating func report(
    _ device: Advertisement
  ) -> [ScanStream<Advertisement>.Continuation] {
    var readers: [ScanStream<Advertisement>.Continuation] = []
    for (number, scan) in scans where scan.filter.accepts(device) {
      let isNew = scans[number]?.reported.insert(device.id).inserted ?? false
      if isNew || !scan.eachOnce { readers.append(scan.continuation) }
    }
    return readers
  }
}
