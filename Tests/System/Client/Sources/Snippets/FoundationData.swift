import Foundation
import OtaflashFoundation
import OtaflashGATT

/// Writes a value, reads it back, and shows a message if this fails.
public func exchange(
  _ value: Data, with characteristic: BluetoothUUID, in service: BluetoothUUID,
  of peripheral: Peripheral
) async -> Data? {
  do {
    try await peripheral.write(value, to: characteristic, in: service)
    return try await peripheral.readData(characteristic, in: service)
  } catch {
    print(error.localizedDescription)
    if let remedy = error.recoverySuggestion { print(remedy) }
    return nil
  }
}
