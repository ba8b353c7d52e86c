/// A device that the host has connected to, as recorded in a list.
public struct KnownDevice: Hashable, Identifiable, Sendable {
  /// The identifier to connect by: an address such as `C0:FF:EE:00:00:01`.
  public let id: Advertisement.ID
  /// The name under which the device was found; `nil` if it was connected to without a scan, or
  /// advertised no name.
  public let name: String?
  /// The time of the last connection in seconds since 1970; `nil` if the time is not recorded.
  public let lastConnected: Double?

  /// Creates an entry for a device from another list of the app.
  public init(id: Advertisement.ID, name: String? = nil, lastConnected: Double? = nil) {
    self.id = id
    self.name = name
    self.lastConnected = lastConnected
  }
}

/// The devices that an application has connected to, in the application's storage: a file, a
/// database, its settings. `Dialer.remembering(in:)` records devices.
public protocol KnownDevices: Sendable {
  /// The error of a read or write; `Never` for a list in memory.
  associatedtype Failure: Error

  /// Records a connection to a device; the device becomes the first of `devices`.
  ///
  /// - Parameters:
  ///   - id: the identifier in an advertisement: the device's address.
  ///   - name: `nil` keeps the recorded name.
  func remember(_ id: Advertisement.ID, name: String?) async throws(Failure)

  /// Returns the devices, most recently connected first.
  func devices() async throws(Failure) -> [KnownDevice]

  /// Removes a device. An unknown device is not an error.
  func forget(_ id: Advertisement.ID) async throws(Failure)
}

extension KnownDevices {
  /// Returns the most recently connected device; `nil` if no device is known.
  public func last() async throws(Failure) -> KnownDevice? { try await devices().first }
}

extension Dialer {
  /// Returns the same dialer; each connection is recorded in `devices` before it is used. A device
  /// that was reached at its bootloader's address is recorded under its application's address.
  ///
  /// - Precondition: the dialer scans, or was created for an address. For any other dialer use
  ///   `remembering(_:name:in:failed:)`.
  /// - Parameters:
  ///   - devices: the store.
  ///   - failed: called with the error if a connection could not be recorded; the connection is
  ///     established nevertheless.
  public func remembering<Devices: KnownDevices>(
    in devices: Devices, failed: @escaping @Sendable (Devices.Failure) -> Void = { _ in }
  ) -> Dialer {
    precondition(knowsItsDevice, "the dialer does not know its device")
    return noting(devices, failed) { [device] request in request.pin.connectedDevice ?? device }
  }

  /// Returns the same dialer; each connection is recorded in `devices` under `id`. The dialer need
  /// not know its device.
  public func remembering<Devices: KnownDevices>(
    _ id: Advertisement.ID, name: String? = nil, in devices: Devices,
    failed: @escaping @Sendable (Devices.Failure) -> Void = { _ in }
  ) -> Dialer {
    noting(devices, failed) { _ in KnownDevice(id: id, name: name) }
  }

  private func noting<Devices: KnownDevices>(
    _ devices: Devices, _ failed: @escaping @Sendable (Devices.Failure) -> Void,
    _ identity: @escaping @Sendable (DialRequest) -> KnownDevice?
  ) -> Dialer {
    with { [dial] (request) async throws(ConnectFault) -> any Link in
      let link = try await dial(request)
      guard let device = identity(request) else { return link }
      do throws(Devices.Failure) { try await devices.remember(device.id, name: device.name) } catch
      {
        failed(error)
      }
      return link
    }
  }
}
