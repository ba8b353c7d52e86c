import Foundation

/// The state of the system's Bluetooth (CBManagerState).
public enum CBManagerState: Int, Sendable {
  case unknown = 0
  case resetting
  case unsupported
  case unauthorized
  case poweredOff
  case poweredOn
}

/// The common base of central and peripheral managers (CBManager).
open class CBManager: NSObject {
  public package(set) var state = CBManagerState.unknown
}

/// Key of `scanForPeripherals(withServices:options:)`: an NSNumber with a Boolean.
public let CBCentralManagerScanOptionAllowDuplicatesKey =
  "kCBScanOptionAllowDuplicates"
/// Key of advertisement data: a String.
public let CBAdvertisementDataLocalNameKey = "kCBAdvDataLocalName"
/// Key of advertisement data: Data, the company's number in its first two bytes.
public let CBAdvertisementDataManufacturerDataKey = "kCBAdvDataManufacturerData"
/// Key of advertisement data: a dictionary of CBUUID and Data.
public let CBAdvertisementDataServiceDataKey = "kCBAdvDataServiceData"
/// Key of advertisement data: an array of CBUUID.
public let CBAdvertisementDataServiceUUIDsKey = "kCBAdvDataServiceUUIDs"
/// Key of advertisement data: an NSNumber in dBm.
public let CBAdvertisementDataTxPowerLevelKey = "kCBAdvDataTxPowerLevel"
/// Key of advertisement data: an NSNumber with a Boolean.
public let CBAdvertisementDataIsConnectable = "kCBAdvDataIsConnectable"

/// Scans, and connects to peripherals (CBCentralManager).
open class CBCentralManager: CBManager {
  open weak var delegate: (any CBCentralManagerDelegate)?
  public package(set) var isScanning = false
  private let system: (any MockSystem)?

  /// A manager on a computer without Bluetooth; its state stays `.unsupported`.
  public init(delegate: (any CBCentralManagerDelegate)?, queue: DispatchQueue?) {
    self.delegate = delegate
    system = nil
    super.init()
    state = .unsupported
    (queue ?? .main).async { [self] in self.delegate?.centralManagerDidUpdateState(self) }
  }

  /// A manager of a simulated system.
  package init(system: any MockSystem) {
    self.system = system
    super.init()
  }

  open func scanForPeripherals(
    withServices serviceUUIDs: [CBUUID]?, options: [String: Any]? = nil
  ) {
    isScanning = true
    let duplicates = options?[CBCentralManagerScanOptionAllowDuplicatesKey] as? Bool ?? false
    system?.startScan(for: self, services: serviceUUIDs ?? [], allowDuplicates: duplicates)
  }

  open func stopScan() {
    isScanning = false
    system?.stopScan(for: self)
  }

  open func connect(_ peripheral: CBPeripheral, options: [String: Any]? = nil) {
    peripheral.state = .connecting
    system?.connect(peripheral, for: self)
  }

  open func cancelPeripheralConnection(_ peripheral: CBPeripheral) {
    peripheral.state = .disconnecting
    system?.disconnect(peripheral, for: self)
  }

  open func retrievePeripherals(withIdentifiers identifiers: [UUID]) -> [CBPeripheral] {
    identifiers.compactMap { system?.peripheral($0) }
  }
}

/// The events of a central manager (CBCentralManagerDelegate). All methods except the first are
/// optional.
public protocol CBCentralManagerDelegate: NSObjectProtocol {
  func centralManagerDidUpdateState(_ central: CBCentralManager)

  func centralManager(
    _ central: CBCentralManager, didDiscover peripheral: CBPeripheral,
    advertisementData: [String: Any], rssi RSSI: NSNumber)

  func centralManager(_ central: CBCentralManager, didConnect peripheral: CBPeripheral)

  func centralManager(
    _ central: CBCentralManager, didFailToConnect peripheral: CBPeripheral, error: (any Error)?)

  func centralManager(
    _ central: CBCentralManager, didDisconnectPeripheral peripheral: CBPeripheral,
    error: (any Error)?)
}

extension CBCentralManagerDelegate {
  public func centralManager(
    _ central: CBCentralManager, didDiscover peripheral: CBPeripheral,
    advertisementData: [String: Any], rssi RSSI: NSNumber
  ) {}

  public func centralManager(_ central: CBCentralManager, didConnect peripheral: CBPeripheral) {}

  public func centralManager(
    _ central: CBCentralManager, didFailToConnect peripheral: CBPeripheral, error: (any Error)?
  ) {}

  public func centralManager(
    _ central: CBCentralManager, didDisconnectPeripheral peripheral: CBPeripheral,
    error: (any Error)?
  ) {}
}
