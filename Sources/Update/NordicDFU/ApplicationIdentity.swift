import OtaflashATT
import OtaflashFirmware
import OtaflashGATT

/// What an application says of itself in its Device Information service (Bluetooth SIG DIS 1.1).
/// Neither of Nordic's boot loaders can be asked what it runs, so this is all there is.
struct ApplicationIdentity: Equatable, Sendable {
  private static let service = BluetoothUUID(0x180A)
  private static let manufacturerName = BluetoothUUID(0x2A29)
  private static let firmwareRevision = BluetoothUUID(0x2A26)

  /// `nil` where the application has no such string, or does not let it be read.
  var manufacturer: String?
  var firmwareRevision: String?

  /// The firmware revision, where it is three numbers.
  var version: FirmwareVersion? { firmwareRevision.flatMap(FirmwareVersion.init) }

  static func read(from client: GATTClient) async throws(GATTFault) -> ApplicationIdentity {
    ApplicationIdentity(
      manufacturer: try await string(manufacturerName, of: client),
      firmwareRevision: try await string(firmwareRevision, of: client))
  }

  private static func string(
    _ uuid: BluetoothUUID, of client: GATTClient
  ) async throws(GATTFault) -> String? {
    do throws(GATTFault) {
      let characteristic = try await client.characteristic(uuid, in: service)
      let octets = try await client.read(characteristic)
      // Some applications send a C string with its end.
      return String(decoding: octets.prefix { $0 != 0 }, as: UTF8.self)
    } catch {
      switch error {
      case .notFound, .notPermitted, .refused: return nil
      default: throw error
      }
    }
  }

  /// How what runs compares with an image whose version is known.
  func agreement(with image: FirmwareImage) -> RunningImage.Agreement {
    guard let version, let wanted = image.version else { return .untold }
    return version == wanted ? .same : .different
  }
}

extension RunningImage {
  /// An application that a boot loader has started after checking it.
  init(_ identity: ApplicationIdentity, expecting image: FirmwareImage) {
    self.init(
      version: identity.version, agreement: identity.agreement(with: image), outcome: .normal,
      onTrial: false)
  }

  /// A boot loader that has started no application.
  static let bootLoader = RunningImage(
    version: nil, agreement: .different, outcome: .normal, onTrial: false)

  /// A boot loader that has replaced itself or its SoftDevice, and waits for what comes next.
  static let newBootLoader = RunningImage(
    version: nil, agreement: .untold, outcome: .activated, onTrial: false)
}
