import Foundation

/// A remote device (CBPeer).
open class CBPeer: NSObject {
  /// The system's identifier of the device, valid on this computer.
  public let identifier: UUID

  init(identifier: UUID) { self.identifier = identifier }
}

/// The state of a connection (CBPeripheralState).
public enum CBPeripheralState: Int, Sendable {
  case disconnected = 0
  case connecting
  case connected
  case disconnecting
}

/// A device that advertises or is connected (CBPeripheral).
open class CBPeripheral: CBPeer {
  open weak var delegate: (any CBPeripheralDelegate)?
  public package(set) var name: String?
  public package(set) var state = CBPeripheralState.disconnected
  public package(set) var services: [CBService]?
  public package(set) var canSendWriteWithoutResponse = false
  /// The ATT_MTU of the connection.
  package var mtu = 23
  private let system: any MockSystem

  package init(identifier: UUID, name: String?, system: any MockSystem) {
    self.name = name
    self.system = system
    super.init(identifier: identifier)
  }

  open func discoverServices(_ serviceUUIDs: [CBUUID]?) {
    system.discoverServices(of: self, serviceUUIDs ?? [])
  }

  open func discoverCharacteristics(_ characteristicUUIDs: [CBUUID]?, for service: CBService) {
    system.discoverCharacteristics(of: service, on: self, characteristicUUIDs ?? [])
  }

  open func readValue(for characteristic: CBCharacteristic) {
    system.read(characteristic, on: self)
  }

  open func writeValue(
    _ data: Data, for characteristic: CBCharacteristic, type: CBCharacteristicWriteType
  ) {
    system.write(data, to: characteristic, type, on: self)
  }

  open func setNotifyValue(_ enabled: Bool, for characteristic: CBCharacteristic) {
    system.setNotify(enabled, for: characteristic, on: self)
  }

  open func maximumWriteValueLength(for type: CBCharacteristicWriteType) -> Int {
    switch type {
    case .withResponse: 512
    case .withoutResponse: mtu - 3
    }
  }
}

/// The events of a peripheral (CBPeripheralDelegate). All methods are optional.
public protocol CBPeripheralDelegate: NSObjectProtocol {
  func peripheral(_ peripheral: CBPeripheral, didDiscoverServices error: (any Error)?)

  func peripheral(
    _ peripheral: CBPeripheral, didDiscoverCharacteristicsFor service: CBService,
    error: (any Error)?)

  func peripheral(
    _ peripheral: CBPeripheral, didUpdateValueFor characteristic: CBCharacteristic,
    error: (any Error)?)

  func peripheral(
    _ peripheral: CBPeripheral, didWriteValueFor characteristic: CBCharacteristic,
    error: (any Error)?)

  func peripheral(
    _ peripheral: CBPeripheral, didUpdateNotificationStateFor characteristic: CBCharacteristic,
    error: (any Error)?)

  func peripheralIsReady(toSendWriteWithoutResponse peripheral: CBPeripheral)

  func peripheral(_ peripheral: CBPeripheral, didModifyServices invalidatedServices: [CBService])
}

extension CBPeripheralDelegate {
  public func peripheral(_ peripheral: CBPeripheral, didDiscoverServices error: (any Error)?) {}

  public func peripheral(
    _ peripheral: CBPeripheral, didDiscoverCharacteristicsFor service: CBService,
    error: (any Error)?
  ) {}

  public func peripheral(
    _ peripheral: CBPeripheral, didUpdateValueFor characteristic: CBCharacteristic,
    error: (any Error)?
  ) {}

  public func peripheral(
    _ peripheral: CBPeripheral, didWriteValueFor characteristic: CBCharacteristic,
    error: (any Error)?
  ) {}

  public func peripheral(
    _ peripheral: CBPeripheral, didUpdateNotificationStateFor characteristic: CBCharacteristic,
    error: (any Error)?
  ) {}

  public func peripheralIsReady(toSendWriteWithoutResponse peripheral: CBPeripheral) {}

  public func peripheral(
    _ peripheral: CBPeripheral, didModifyServices invalidatedServices: [CBService]
  ) {}
}
