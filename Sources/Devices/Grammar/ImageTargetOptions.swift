import ArgumentParser
import OtaflashFirmware

/// The required board of MCUboot images. Only the bootloader can compare the board, and it reports
/// a mismatch only after the complete image was sent.
package struct ImageTargetOptions: ParsableArguments, Sendable {
  @Option(
    name: .long,
    help: ArgumentHelp(
      "Accept only MCUboot images for this vendor: its domain name, or a UUID.", valueName: "id"))
  package var vendorID: String?

  @Option(
    name: .long,
    help: ArgumentHelp(
      "Accept only MCUboot images for this class: a name that the vendor defines, or a UUID.",
      valueName: "id"))
  package var classID: String?

  package init() {}

  package func validate() throws {
    guard let classID, vendorID == nil, MCUbootIdentifier(uuid: classID) == nil else { return }
    throw ValidationError(
      "--class-id '\(classID)' is a name; it requires --vendor-id")
  }

  /// The names as UUIDs, as imgtool generates them from `--vid` and `--cid`.
  package var board: MCUbootBoard {
    let vendor = vendorID.map { text in
      MCUbootIdentifier(uuid: text) ?? MCUbootIdentifier(name: text, in: .domainNames)
    }
    let deviceClass = classID.flatMap { text in
      MCUbootIdentifier(uuid: text) ?? vendor.map { MCUbootIdentifier(name: text, in: $0) }
    }
    return MCUbootBoard(vendorID: vendor, classID: deviceClass)
  }
}
