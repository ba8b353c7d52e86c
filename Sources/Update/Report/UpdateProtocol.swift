import OtaflashFirmware

/// An update protocol, identified by its name.
///
/// The protocols of this package are constants of this type; an additional protocol is a custom
/// value:
/// ```swift
/// extension UpdateProtocol {
///   static let acme = UpdateProtocol("acme", carrying: "an ACME container")
/// }
/// ```
public struct UpdateProtocol: Hashable, Sendable, CustomStringConvertible {
  /// A name such as `smp`, used for selection and in JSON.
  public let name: String
  /// The supported files, as a noun phrase.
  public let images: String

  /// Creates a custom protocol.
  ///
  /// - Parameters:
  ///   - name: a unique name in lower case, without blanks.
  ///   - images: the supported files, as a noun phrase.
  public init(_ name: String, carrying images: String) {
    self.name = name
    self.images = images
  }

  public var description: String { name }
}

extension UpdateProtocol {
  /// The OTA service of this project (docs/ota-service.md).
  public static let otaflash = UpdateProtocol(
    "otaflash",
    carrying: "the bytes of a slot (a \(FirmwareImage.Format.anyOne) file)")

  /// MCUmgr's Simple Management Protocol, for devices with MCUboot (Zephyr and others).
  public static let smp = UpdateProtocol(
    "smp",
    carrying: "an MCUboot image (zephyr.signed.bin, app_update.bin) or a package of them "
      + "(dfu_application.zip)")

  /// Nordic's Secure DFU: nRF5 SDK 12 and later.
  public static let nordicSecure = UpdateProtocol(
    "nordic-dfu", carrying: "a ZIP package from 'nrfutil pkg generate'")

  /// Nordic's legacy DFU: SDK 11 and earlier, and InfiniTime.
  public static let nordicLegacy = UpdateProtocol(
    "nordic-legacy",
    carrying: "a ZIP package from 'nrfutil dfu genpkg' or adafruit-nrfutil")

  /// Espressif's OTA service 0x8018: ble_ota, ble_ota_raw and Arduino libraries.
  public static let espressif = UpdateProtocol(
    "espressif", carrying: "an application image of ESP-IDF or Arduino (build/PROJECT.bin)")

  /// Silicon Labs' AppLoader and application OTA.
  public static let silabs = UpdateProtocol(
    "silabs", carrying: "a GBL file from 'commander gbl create'")
}
