import Foundation
import OtaflashATT
import OtaflashFirmware
import OtaflashGATT

extension Peripheral {
  /// As `read(_:in:within:)`, as `Data`.
  public func readData(
    _ characteristic: BluetoothUUID, in service: BluetoothUUID, within limit: Duration? = nil
  ) async throws(PeripheralFault) -> Data {
    Data(try await read(characteristic, in: service, within: limit))
  }

  /// As `write(_:to:in:within:)` with bytes.
  public func write(
    _ value: Data, to characteristic: BluetoothUUID, in service: BluetoothUUID,
    within limit: Duration? = nil
  ) async throws(PeripheralFault) {
    try await write(Array(value), to: characteristic, in: service, within: limit)
  }

  /// As `writeWithoutResponse(_:to:in:within:)` with bytes.
  public func writeWithoutResponse(
    _ value: Data, to characteristic: BluetoothUUID, in service: BluetoothUUID,
    within limit: Duration? = nil
  ) async throws(PeripheralFault) {
    try await writeWithoutResponse(Array(value), to: characteristic, in: service, within: limit)
  }
}

extension ManufacturerData {
  /// The bytes that the company defines, as `Data`.
  public var foundationData: Data { Data(data) }
}

extension FirmwarePackage {
  /// As `decode(name:bytes:)`, of `Data`.
  public static func decode(name: String, data: Data) throws(FirmwareFault) -> FirmwarePackage {
    try decode(name: name, bytes: Array(data))
  }
}
