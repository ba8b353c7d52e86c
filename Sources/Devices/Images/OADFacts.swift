import OtaflashConsole
import OtaflashFirmware

extension OADImage {
  var facts: [[String]] {
    [
      ["ti-oad", "'\(identificationText)', \(type)"],
      ["software", Text.hex(softwareVersion.bytes)], ["bim", "version \(bimVersion)"],
      ["signature", isSigned ? "ECDSA P-256" : "none"],
    ]
  }

  var members: [JSONValue.Member] {
    JSONValue.fields([
      "identification": .string(identificationText), "image_type": .integer(Int(type.rawValue)),
      "software_version": .string(Text.hex(softwareVersion.bytes)),
      "bim_version": .integer(Int(bimVersion)), "crc32": .string(Text.hex(crc32)),
      "signed": .bool(isSigned),
    ])
  }
}
