import Foundation
import OtaflashATT
import OtaflashFirmware
import OtaflashGATT

extension Peripheral {
  /// Same as `read(_:in:within:)`, but returns `Data`.
  public func readData(
    _ characteristic: BluetoothUUID, in service: BluetoothUUID, within limit: Duration? = nil
  ) async throws(PeripheralFault) -> Data {
    Data(try await read(characteristic, in: service, within: limit))
  }

  /// Same as `write(_:to:in:within:)`, for `Data`.
  public func write(
    _ value: Data, to characteristic: BluetoothUUID, in service: BluetoothUUID,
    within limit: Duration? = nil
  ) async throws(PeripheralFault) {
    try await write(Array(value), to: characteristic, in: service, within: limit)
  }

  /// Same as `writeWithoutResponse(_:to:in:within:)`, for `Data`.
  public func writeWithoutResponse(
    _ value: Data, to characteristic: BluetoothUUID, in service: BluetoothUUID,
    within limit: Duration? = nil
  ) async throws(PeripheralFault) {
    try await writeWithoutResponse(Array(value), to: characteristic, in: service, within: limit)
  }
}

extension ManufacturerData {
  /// The data in the company's format, as `Data`.
  public var foundationData: Data { Data(data) }
}

extension FirmwarePackage {
  /// Same as `decode(name:bytes:)`, for `Data`.
  public static func decode(name: String, data: Data) throws(FirmwareFault) -> FirmwarePackage {
    try decode(name: name, bytes: Array(data))
  }
}
