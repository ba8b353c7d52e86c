extension Peripheral {
  /// Creates a peripheral that the caller owns: a device of `central`, on its clock
  /// (`init(_:clock:limits:)`).
  ///
  /// - Parameters:
  ///   - device: the device, which `central` has found.
  ///   - central: connects to the device.
  ///   - limit: the time limit to connect.
  ///   - limits: the capacity of the peripheral's queues.
  public convenience init(
    _ device: Advertisement, from central: some Central,
    within limit: Duration = Dialer.connectingLimitDefault,
    limits: PeripheralLimits = PeripheralLimits()
  ) {
    self.init(
      Dialer(to: device, from: central, within: limit), clock: central.clock, limits: limits)
  }

  /// Creates a peripheral for the first device that passes `filter`. After a lost link the same
  /// device is found again.
  ///
  /// - Parameters:
  ///   - filter: the properties of the device.
  ///   - central: the central that finds the device and connects to it.
  ///   - limit: the time limit to find the device, and also the time limit to connect to it.
  ///   - limits: the capacity of the peripheral's queues.
  public convenience init(
    matching filter: AdvertisementFilter, from central: some Central,
    within limit: Duration = Dialer.connectingLimitDefault,
    limits: PeripheralLimits = PeripheralLimits()
  ) {
    self.init(
      Dialer(to: filter, from: central, within: limit), clock: central.clock, limits: limits)
  }
}

/// Passes a device of `central` to `body` as a peripheral, and closes its connection when `body`
/// ends (`withPeripheral(_:clock:limits:_:)`). All waits use the central's clock.
///
/// - Parameters:
///   - device: the device, such as a device that the user selected from a list.
///   - central: the central that connects to the device.
///   - limit: the time limit to connect.
///   - body: the work; the connection is closed after it.
/// - Throws: the error of `body`.
public func withPeripheral<Value: Sendable, Failure: Error>(
  _ device: Advertisement, from central: some Central,
  within limit: Duration = Dialer.connectingLimitDefault,
  _ body: @escaping @Sendable (Peripheral) async throws(Failure) -> Value
) async throws(Failure) -> Value {
  try await withPeripheral(
    Dialer(to: device, from: central, within: limit), clock: central.clock, body)
}

/// Passes the first device that passes `filter` to `body` as a peripheral, and closes its
/// connection when `body` ends. After a lost link the same device is found again.
///
/// - Parameters:
///   - filter: the properties of the device.
///   - central: the central that finds the device and connects to it.
///   - limit: the time limit to find the device, and also the time limit to connect to it.
///   - body: the work; the connection is closed after it.
/// - Throws: the error of `body`.
public func withPeripheral<Value: Sendable, Failure: Error>(
  matching filter: AdvertisementFilter, from central: some Central,
  within limit: Duration = Dialer.connectingLimitDefault,
  _ body: @escaping @Sendable (Peripheral) async throws(Failure) -> Value
) async throws(Failure) -> Value {
  try await withPeripheral(
    Dialer(to: filter, from: central, within: limit), clock: central.clock, body)
}
