import Foundation

/// The system and the devices of the mock, which are not part of Core Bluetooth.
///
/// Each call returns immediately, and the system reports the outcome to the delegate later.
package protocol MockSystem: AnyObject, Sendable {
  func startScan(for manager: CBCentralManager, services: [CBUUID], allowDuplicates: Bool)
  func stopScan(for manager: CBCentralManager)
  func peripheral(_ identifier: UUID) -> CBPeripheral?
  func connect(_ peripheral: CBPeripheral, for manager: CBCentralManager)
  func disconnect(_ peripheral: CBPeripheral, for manager: CBCentralManager)
  func discoverServices(of peripheral: CBPeripheral, _ uuids: [CBUUID])
  func discoverCharacteristics(
    of service: CBService, on peripheral: CBPeripheral, _ uuids: [CBUUID])
  func read(_ characteristic: CBCharacteristic, on peripheral: CBPeripheral)
  func write(
    _ value: Data, to characteristic: CBCharacteristic, _ type: CBCharacteristicWriteType,
    on peripheral: CBPeripheral)
  func setNotify(
    _ enabled: Bool, for characteristic: CBCharacteristic, on peripheral: CBPeripheral)
}
