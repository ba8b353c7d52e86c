import OtaflashATT
import OtaflashGATT

/// The characteristics of Silicon Labs' OTA on one connection. The UUID of a loader's service
/// differs between builds, so the characteristics identify the protocol.
struct SilabsAttributes: Sendable {
  let service: BluetoothUUID
  let control: DiscoveredCharacteristic
  /// `nil` = an application that restarts into its loader.
  let data: DiscoveredCharacteristic?
  /// The characteristics with versions, which only a loader has.
  let versions: [DiscoveredCharacteristic]

  /// Finds the characteristics; returns `nil` if the device does not support the protocol.
  static func find(on client: GATTClient) async throws(GATTFault) -> SilabsAttributes? {
    // Only services of vendors are examined; the other services have short UUIDs.
    for service in try await client.services() where service.uuid.short == nil {
      let found = SilabsAttributes(
        service: service.uuid, in: try await client.characteristics(of: service))
      if let found { return found }
    }
    return nil
  }

  /// Returns `nil` for a service without a writable Control. A service other than the service of
  /// the SDK must also contain Data.
  init?(service: BluetoothUUID, in characteristics: [DiscoveredCharacteristic]) {
    func writable(_ uuid: BluetoothUUID) -> DiscoveredCharacteristic? {
      characteristics.first { $0.uuid == uuid && $0.properties.contains(.write) }
    }
    guard let control = writable(SilabsOTA.control) else { return nil }
    let data = writable(SilabsOTA.data)
    guard data != nil || service == SilabsOTA.service else { return nil }
    self.service = service
    self.control = control
    self.data = data
    versions = characteristics.filter { SilabsOTA.versions.contains($0.uuid) }
  }
}

/// The role of a device.
enum SilabsRole: Sendable {
  /// An application that restarts into its loader; the value is `nil` if it cannot.
  case application(SilabsChannel?)
  /// A loader, which overwrites the application.
  case loader(SilabsChannel)
  /// An application that stores the image.
  case storage(SilabsChannel)

  /// The names under which loaders advertise.
  private static let loaderNames = ["OTA", "AppLoader"]
  /// The services of a loader: Generic Access, Generic Attribute and OTA.
  private static let loaderServices: Set = [
    genericAccess, BluetoothUUID(0x1801), SilabsOTA.service,
  ]
  private static let genericAccess = BluetoothUUID(0x1800)
  private static let deviceName = BluetoothUUID(0x2A00)

  /// - Parameters:
  ///   - isLoader: whether the device was found in its loader before, or was restarted into its
  ///     loader.
  ///   - isActivated: whether the image was activated, so that an application that receives images
  ///     itself may answer. Such an application has more services than a loader.
  static func find(
    on client: GATTClient, isLoader: Bool, isActivated: Bool
  ) async throws(GATTFault) -> SilabsRole {
    guard let found = try await SilabsAttributes.find(on: client) else { return .application(nil) }
    let channel = SilabsChannel(client: client, attributes: found)
    guard found.data != nil else { return .application(channel) }
    if !found.versions.isEmpty || found.service != SilabsOTA.service { return .loader(channel) }
    if isLoader {
      let others = try await client.services().contains { !loaderServices.contains($0.uuid) }
      return isActivated && others ? .storage(channel) : .loader(channel)
    }
    return try await loaderNames.contains(name(of: client)) ? .loader(channel) : .storage(channel)
  }

  private static func name(of client: GATTClient) async throws(GATTFault) -> String {
    do throws(GATTFault) {
      let name = try await client.characteristic(deviceName, in: genericAccess)
      return String(decoding: try await client.read(name), as: UTF8.self)
    } catch {
      switch error {
      case .notFound, .notPermitted, .refused: return ""
      default: throw error
      }
    }
  }
}
