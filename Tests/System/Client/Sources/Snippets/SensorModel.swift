import OtaflashGATT

/// The model of a screen: one sensor, as long as the screen exists.
public final class SensorModel: Sendable {
  private let peripheral: Peripheral

  public init(_ dialer: Dialer, clock: any LinkClock) {
    peripheral = Peripheral(dialer, clock: clock)
  }

  public func value(
    of characteristic: BluetoothUUID, in service: BluetoothUUID
  ) async throws(PeripheralFault) -> [UInt8] {
    try await peripheral.read(characteristic, in: service)
  }
}
