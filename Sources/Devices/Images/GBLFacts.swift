import OtaflashConsole
import OtaflashFirmware

extension GBLFile {
  /// The contents as text, such as `application, program`.
  private var contents: [String] {
    var names: [String] = []
    for tag in tags where !names.contains(tag.kind.description) { names.append("\(tag.kind)") }
    return names
  }

  var facts: [[String]] {
    var rows = [["tags", contents.joined(separator: ", ")]]
    if let application {
      rows.append(["application", "version \(application.version)"])
      if application.product.contains(where: { $0 != 0 }) {
        rows.append(["product", Text.hex(application.product)])
      }
    }
    if let bootloaderVersion {
      rows.append(["bootloader", "version 0x" + Text.hex(bootloaderVersion)])
    }
    rows.append(["encrypted", isEncrypted ? "yes" : "no"])
    rows.append(["signature", isSigned ? "ECDSA P-256" : "none"])
    return rows
  }

  var members: [JSONValue.Member] {
    JSONValue.fields([
      "tags": .array(contents.map { .string($0) }),
      "application_version": application.map { .integer(Int($0.version)) },
      "product": application.map { .string(Text.hex($0.product)) },
      "bootloader_version": bootloaderVersion.map { .integer(Int($0)) },
      "encrypted": .bool(isEncrypted), "signed": .bool(isSigned),
    ])
  }
}
