import OtaflashATT
import OtaflashFirmware
import OtaflashGATT

/// The values in Device Information that the host compares with an image.
struct EspressifIdentity: Equatable, Sendable {
  private static let information = BluetoothUUID(0x180A)
  private static let chipNames = [BluetoothUUID(0x2A24), BluetoothUUID(0x2A27)]

  let application: ApplicationIdentity
  /// The chip, if the model number or the hardware revision names it.
  let chip: ESPChip?

  static func read(from client: GATTClient) async throws(GATTFault) -> EspressifIdentity {
    let application = try await ApplicationIdentity.read(from: client)
    var chip: ESPChip?
    for uuid in chipNames where chip == nil {
      do throws(GATTFault) {
        let bytes = try await client.read(
          try await client.characteristic(uuid, in: information))
        chip = ESPChip(namedIn: String(decoding: bytes, as: UTF8.self))
      } catch .notFound {
        continue
      } catch .refused {
        continue
      } catch .notPermitted {
        continue
      }
    }
    return EspressifIdentity(application: application, chip: chip)
  }

  /// The texts that may be the version of the application.
  private static func texts(_ identity: ApplicationIdentity) -> [String] {
    [identity.firmwareRevision, identity.softwareRevision].compactMap { $0 }.filter { !$0.isEmpty }
  }

  /// The running version, if one of the texts consists of three numbers, with or without `v`.
  var version: FirmwareVersion? {
    Self.texts(application).lazy.compactMap(Self.number).first
  }

  private static func number(_ text: String) -> FirmwareVersion? {
    FirmwareVersion(text.hasPrefix("v") ? String(text.dropFirst()) : text)
  }

  /// Compares the running application with an image.
  ///
  /// - Parameter before: the values before the update.
  func agreement(
    with image: FirmwareImage, before: ApplicationIdentity?
  ) -> RunningImage.Agreement {
    let text = image.esp?.application.versionText ?? ""
    func states(_ identity: ApplicationIdentity) -> Bool {
      Self.texts(identity).contains { found in
        found == text || Self.number(found).map { $0 == image.version } ?? false
      }
    }
    if states(application) {
      // A version that already ran before is no evidence.
      return before.map(states) ?? false ? .restarted : .sameVersion
    }
    if version != nil, image.version != nil { return .different }
    let changed = before.map { application.agreement(with: .withoutVersion, before: $0) }
    return changed == .changed ? .changed : .restarted
  }
}

extension FirmwareImage {
  /// An image whose version cannot be compared.
  fileprivate static let withoutVersion = FirmwareImage(
    name: "", format: .binary, bytes: [], version: nil, hardware: nil)
}
