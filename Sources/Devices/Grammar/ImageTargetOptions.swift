import ArgumentParser
import OtaflashFirmware

/// Which devices MCUboot images must be for. Their bootloader knows, and does not tell before all
/// of an image was sent.
package struct ImageTargetOptions: ParsableArguments, Sendable {
  @Option(
    name: .long,
    help: ArgumentHelp(
      "Take only MCUboot images for this vendor: its domain name, or a UUID.", valueName: "id"))
  package var vendorID: String?

  @Option(
    name: .long,
    help: ArgumentHelp(
      "Take only MCUboot images for this class: the vendor's name for it, or a UUID.",
      valueName: "id"))
  package var classID: String?

  package init() {}

  package func validate() throws {
    guard let classID, vendorID == nil, MCUbootIdentifier(uuid: classID) == nil else { return }
    throw ValidationError(
      "--class-id '\(classID)' is a name, which --vendor-id must say whose it is")
  }

  /// The names as UUIDs, as imgtool makes them of `--vid` and `--cid`.
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
