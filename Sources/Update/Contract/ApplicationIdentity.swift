import OtaflashATT
import OtaflashFirmware
import OtaflashGATT

/// The values that identify an application: the strings of its Device Information service
/// (Bluetooth SIG DIS 1.1), and the hash of its attributes (Core 5.4, Vol 3, Part G, 7.3).
/// Neither of Nordic's bootloaders reports the installed application: over Bluetooth LE, the
/// response of Secure DFU to "firmware version" has no payload.
struct ApplicationIdentity: Equatable, Sendable {
  private static let information = BluetoothUUID(0x180A)
  private static let manufacturerName = BluetoothUUID(0x2A29)
  private static let firmwareRevision = BluetoothUUID(0x2A26)
  private static let softwareRevision = BluetoothUUID(0x2A28)
  private static let genericAttribute = BluetoothUUID(0x1801)
  private static let databaseHash = BluetoothUUID(0x2B2A)

  /// The Manufacturer Name String. This and the following values are `nil` if the application does
  /// not have the value or does not permit reading the value.
  var manufacturer: String?
  var firmwareRevision: String?
  var softwareRevision: String?
  var databaseHash: [UInt8]?

  /// The firmware revision, if it consists of three numbers.
  var version: FirmwareVersion? { firmwareRevision.flatMap(FirmwareVersion.init) }

  static func read(from client: GATTClient) async throws(GATTFault) -> ApplicationIdentity {
    ApplicationIdentity(
      manufacturer: try await string(manufacturerName, of: client),
      firmwareRevision: try await string(firmwareRevision, of: client),
      softwareRevision: try await string(softwareRevision, of: client),
      databaseHash: try await value(databaseHash, in: genericAttribute, of: client))
  }

  private static func string(
    _ uuid: BluetoothUUID, of client: GATTClient
  ) async throws(GATTFault) -> String? {
    let bytes = try await value(uuid, in: information, of: client)
    // Some applications send a C string with its terminator.
    return bytes.map { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
  }

  private static func value(
    _ uuid: BluetoothUUID, in service: BluetoothUUID, of client: GATTClient
  ) async throws(GATTFault) -> [UInt8]? {
    do throws(GATTFault) {
      return try await client.read(try await client.characteristic(uuid, in: service))
    } catch {
      switch error {
      case .notFound, .notPermitted, .refused: return nil
      default: throw error
      }
    }
  }

  /// Compares the running application with an image.
  ///
  /// - Parameter before: the values before the update; `nil` if the host did not connect to the
  ///   application.
  func agreement(
    with image: FirmwareImage, before: ApplicationIdentity?
  ) -> RunningImage.Agreement {
    if let version, let wanted = image.version {
      return version == wanted ? .sameVersion : .different
    }
    return before.map(differs) ?? false ? .changed : .untold
  }

  /// Returns whether a revision or the hash differs. Only values that both identities contain are
  /// compared.
  private func differs(from before: ApplicationIdentity) -> Bool {
    func differ<Value: Equatable>(_ value: Value?, _ earlier: Value?) -> Bool {
      guard let value, let earlier else { return false }
      return value != earlier
    }
    return differ(firmwareRevision, before.firmwareRevision)
      || differ(softwareRevision, before.softwareRevision)
      || differ(databaseHash, before.databaseHash)
  }
}

extension RunningImage {
  /// Creates the state of a device whose bootloader has checked and started the application.
  init(
    _ identity: ApplicationIdentity, expecting image: FirmwareImage, before: ApplicationIdentity?,
    validation: String? = nil
  ) {
    self.init(
      version: identity.version, agreement: identity.agreement(with: image, before: before),
      outcome: .normal, isOnTrial: false, validation: validation)
  }

  /// The state of a device whose bootloader has not started an application.
  static let bootloader = RunningImage(
    version: nil, agreement: .different, outcome: .normal, isOnTrial: false)

  /// The state of a device whose bootloader has replaced itself or its SoftDevice, and waits for
  /// the next image.
  static let newBootloader = RunningImage(
    version: nil, agreement: .untold, outcome: .activated, isOnTrial: false)
}
