/// A device that was connected to, as it is remembered.
public struct KnownDevice: Hashable, Identifiable, Sendable {
  /// By which it is connected to again: an address such as `C0:FF:EE:00:00:01`.
  public let id: Advertisement.ID
  /// The name under which it was found; `nil` where it was connected to without a scan.
  public let name: String?
  /// When it was connected to last, in seconds since 1970; `nil` where nobody keeps that.
  public let lastConnected: Double?

  /// A device as another list of an app's has it.
  public init(id: Advertisement.ID, name: String? = nil, lastConnected: Double? = nil) {
    self.id = id
    self.name = name
    self.lastConnected = lastConnected
  }
}

/// Where an application keeps the devices that it has connected to: a file, a database, its
/// settings. `Dialer.remembering(in:)` fills it.
public protocol KnownDevices: Sendable {
  /// Why a list could not be read or written; `Never` for one in memory.
  associatedtype Failure: Error

  /// Notes that a device was connected to now; from here on it is the first of `devices`.
  ///
  /// - Parameters:
  ///   - id: as an advertisement has it: the device's address.
  ///   - name: `nil` leaves a name that is known as it is.
  func remember(_ id: Advertisement.ID, name: String?) async throws(Failure)

  /// The devices, the one that was connected to last first.
  func devices() async throws(Failure) -> [KnownDevice]

  /// Forgets a device; one that is not known is none the less forgotten.
  func forget(_ id: Advertisement.ID) async throws(Failure)
}

extension KnownDevices {
  /// The device that was connected to last; `nil` when none is known.
  public func last() async throws(Failure) -> KnownDevice? { try await devices().first }
}

extension Dialer {
  /// The same, with each connection noted in `devices`, before it is used. At its bootloader's
  /// address a device is noted as itself.
  ///
  /// - Precondition: the dialer knows whom it reaches: it scans, or was made for an address. Any
  ///   other is told by `remembering(_:name:in:failed:)`.
  /// - Parameters:
  ///   - devices: where they are kept.
  ///   - failed: told why a connection could not be noted; the connection is made all the same.
  public func remembering<Devices: KnownDevices>(
    in devices: Devices, failed: @escaping @Sendable (Devices.Failure) -> Void = { _ in }
  ) -> Dialer {
    precondition(knowsItsDevice, "a dialer that does not know whom it reaches")
    return noting(devices, failed) { [device] request in request.pin.heard ?? device }
  }

  /// As above, for a device that is known by `id`, whatever the dialer knows of it.
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
