import OtaflashFirmware

/// An update protocol that devices speak, as people and programs name it.
///
/// The ones of this package are constants here; a protocol of another's is a value of its own:
/// ```swift
/// extension UpdateProtocol {
///   static let acme = UpdateProtocol("acme", carrying: "an ACME container")
/// }
/// ```
public struct UpdateProtocol: Hashable, Sendable, CustomStringConvertible {
  /// Such as `smp`: how it is chosen, and what programs read.
  public let name: String
  /// The files that it carries: a noun phrase.
  public let images: String

  /// A protocol of your own.
  ///
  /// - Parameters:
  ///   - name: lower case, without blanks, unlike those of the others.
  ///   - images: the files that it carries: a noun phrase.
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

  /// MCUmgr's Simple Management Protocol, to MCUboot (Zephyr and others).
  public static let smp = UpdateProtocol(
    "smp",
    carrying: "an MCUboot image (zephyr.signed.bin, app_update.bin) or a package of them "
      + "(dfu_application.zip)")

  /// Nordic's Secure DFU: nRF5 SDK 12 and later.
  public static let nordicSecure = UpdateProtocol(
    "nordic-dfu", carrying: "a ZIP package made by 'nrfutil pkg generate'")

  /// Nordic's legacy DFU: SDK 11 and earlier, and InfiniTime.
  public static let nordicLegacy = UpdateProtocol(
    "nordic-legacy",
    carrying: "a ZIP package made by 'nrfutil dfu genpkg' or adafruit-nrfutil")
}
