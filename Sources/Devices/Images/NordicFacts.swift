import OtaflashConsole
import OtaflashFirmware

extension NordicInitPacket {
  package var isSigned: Bool {
    switch command {
    case .secure(let packet): packet.signature != nil
    case .legacy(let packet): packet.signature != nil
    }
  }

  /// - Parameter integrity: the result of the comparison of the firmware's hash, as a word.
  package func facts(holding integrity: String) -> [[String]] {
    let rows: [[String]] = [
      ["part", role.description], ["init packet", "\(bytes.count) B"], ["parts", sizes.words],
    ]
    switch command {
    case .secure(let packet): return rows + packet.facts(holding: integrity)
    case .legacy(let packet): return rows + packet.facts(holding: integrity)
    }
  }

  package var members: [JSONValue.Member] {
    let own: [JSONValue.Member] =
      switch command {
      case .secure(let packet): packet.members
      case .legacy(let packet): packet.members
      }
    return JSONValue.fields([
      "role": .string(role.rawValue), "size": .integer(bytes.count),
      "sd_size": .integer(Int(sizes.softdevice)), "bl_size": .integer(Int(sizes.bootloader)),
      "app_size": .integer(Int(sizes.application)),
    ]) + own
  }
}

extension NordicSizes {
  /// The sizes as text, such as `SoftDevice 320 B, bootloader 260 B`.
  fileprivate var words: String {
    let all: [(name: String, size: UInt32)] = [
      ("SoftDevice", softdevice), ("bootloader", bootloader), ("application", application),
    ]
    let present = all.filter { $0.size > 0 }
    return present.map { "\($0.name) \(Text.grouped(Int($0.size))) B" }.joined(separator: ", ")
  }
}

private enum NordicImageFacts {
  /// The text for an empty list, which differs from a list with the id 0.
  static let noneListed = "none listed"
}

extension SecureInitPacket {
  fileprivate func facts(holding integrity: String) -> [[String]] {
    let listed = requiredSoftdevices.map { Self.softdevice($0) }.joined(separator: ", ")
    let signed: String = if let signature { "yes, \(signature.algorithm)" } else { "no" }
    var rows: [[String]] = []
    rows.append(["fw version", Self.number(firmwareVersion)])
    rows.append(["hw version", Self.number(hardwareVersion)])
    rows.append(["SoftDevices", listed.isEmpty ? NordicImageFacts.noneListed : listed])
    rows.append(["hash", "\(hashAlgorithm), \(integrity)"])
    rows.append(["signed", signed])
    if isDebug { rows.append(["debug", "yes: debugging bootloaders do not check versions"]) }
    for validation in bootValidations {
      let size = validation.bytes.isEmpty ? "" : ", \(validation.bytes.count) B"
      rows.append(["at start", "\(validation.kind)\(size)"])
    }
    return rows
  }

  fileprivate var members: [JSONValue.Member] {
    let softdevices: [JSONValue] = requiredSoftdevices.map { .integer(Int($0)) }
    let validations: [JSONValue] = bootValidations.map { .integer(Int($0.kind.rawValue)) }
    let firmwareVersion: Int? = firmwareVersion.map { Int($0) }
    let hardwareVersion: Int? = hardwareVersion.map { Int($0) }
    return JSONValue.fields([
      "protocol": "secure-dfu", "fw_version": .integer(firmwareVersion),
      "hw_version": .integer(hardwareVersion), "sd_req": .array(softdevices),
      "hash_type": .integer(Int(hashAlgorithm.rawValue)), "hash": .string(Text.hex(hash)),
      "is_debug": .bool(isDebug), "signed": .bool(signature != nil),
      "boot_validation": .array(validations),
    ])
  }

  private static func number(_ value: UInt32?) -> String {
    if let value { String(value) } else { "not stated" }
  }

  private static func softdevice(_ id: UInt32) -> String {
    switch id {
    case 0: "none needed (0x0000)"
    case UInt32(LegacyInitPacket.anySoftdevice): "any"
    default: "0x" + Text.hex(UInt16(clamping: id))
    }
  }
}

extension LegacyInitPacket {
  fileprivate func facts(holding integrity: String) -> [[String]] {
    let softdevices: [String] = softdevices.map {
      $0 == Self.anySoftdevice ? "any" : "0x" + Text.hex($0)
    }
    var rows: [[String]] = []
    rows.append(["device type", Self.device(deviceType)])
    rows.append(["revision", Self.device(deviceRevision)])
    rows.append([
      "app version", applicationVersion == Self.anyVersion ? "any" : String(applicationVersion),
    ])
    rows.append([
      "SoftDevices",
      softdevices.isEmpty ? NordicImageFacts.noneListed : softdevices.joined(separator: ", "),
    ])
    rows.append(["extension", extensionNumber.map { String($0) } ?? "none"])
    rows.append(["hash", "\(algorithm), \(integrity)"])
    rows.append(["signed", signature == nil ? "no" : "yes, ECDSA P-256"])
    return rows
  }

  fileprivate var members: [JSONValue.Member] {
    let softdevices: [JSONValue] = softdevices.map { .integer(Int($0)) }
    let number: Int? = extensionNumber.map { Int($0) }
    var members = JSONValue.fields([
      "protocol": "legacy-dfu", "device_type": .integer(Int(deviceType)),
      "device_revision": .integer(Int(deviceRevision)),
      "app_version": .integer(Int(applicationVersion)), "sd_req": .array(softdevices),
      "extension": .integer(number),
    ])
    switch integrity {
    case .crc16(let crc): members += JSONValue.fields(["crc16": .integer(Int(crc))])
    case .sha256(let hash, let size, let signature):
      members += JSONValue.fields([
        "firmware_size": .integer(Int(size)), "hash": .string(Text.hex(hash)),
        "signature": .text(signature.map { Text.hex($0) }),
      ])
    }
    return members + JSONValue.fields(["signed": .bool(signature != nil)])
  }

  private var algorithm: String {
    switch integrity {
    case .crc16: "CRC16"
    case .sha256: "SHA-256"
    }
  }

  fileprivate var signature: [UInt8]? {
    if case .sha256(_, _, let signature) = integrity { signature } else { nil }
  }

  private static func device(_ number: UInt16) -> String {
    number == anyDevice ? "any" : "0x" + Text.hex(number)
  }
}
