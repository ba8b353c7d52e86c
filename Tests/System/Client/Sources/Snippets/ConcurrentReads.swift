import OtaflashGATT

/// Reads two values concurrently. The requests are sent one after the other, and each caller
/// receives its own response.
public func modelAndRevision(of peripheral: Peripheral) async throws -> (String, String) {
  let deviceInformation = BluetoothUUID(0x180A)
  async let model = peripheral.read(BluetoothUUID(0x2A24), in: deviceInformation)
  async let revision = peripheral.read(BluetoothUUID(0x2A26), in: deviceInformation)
  return (
    String(decoding: try await model, as: UTF8.self),
    String(decoding: try await revision, as: UTF8.self)
  )
}
