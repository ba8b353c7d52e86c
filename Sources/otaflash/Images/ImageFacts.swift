import OtaflashFirmware

extension FirmwareImage {
  /// `app-1.3.0.bin  266,112 B  crc32 9f2c01aa`
  var summary: String { "\(name)  \(Text.grouped(bytes.count)) B  crc32 \(Text.hex(crc32))" }

  /// All that is known of the image, a row for each fact.
  var facts: [[String]] {
    let version: String? = mcuboot?.version.description ?? version?.description
    var rows: [[String]] = []
    rows.append(["name", name])
    rows.append(["format", format.rawValue])
    rows.append(["size", Text.grouped(bytes.count) + " B"])
    rows.append(["crc32", Text.hex(crc32)])
    rows.append(["sha256", Text.hex(sha256)])
    rows.append(["version", version ?? "unknown"])
    rows.append(["hardware", hardware.map { $0 == .any ? "any" : "\($0)" } ?? "unknown"])
    if let layout { rows += layout.facts }
    switch content {
    case .plain: break
    case .mcuboot(let image, let place):
      rows += place.facts + image.facts(holding: integrityWord)
    case .nordic(let packet): rows += packet.facts(holding: integrityWord)
    }
    return rows
  }

  var members: [JSONValue.Member] {
    let address: Int? = layout.map { Int($0.lowestAddress) }
    var members = JSONValue.fields([
      "name": .string(name), "format": .string(format.rawValue), "size": .integer(bytes.count),
      "crc32": .string(Text.hex(crc32)), "sha256": .string(Text.hex(sha256)),
      "version": .text(version), "hardware": .text(hardware),
      "integrity": .string(integrityWord),
      "address": .integer(address),
    ])
    switch content {
    case .plain: break
    case .mcuboot(let image, let place):
      members += JSONValue.fields([
        "image_index": .integer(place.imageIndex), "slot": .integer(place.slot),
        "mcuboot": .object(image.members),
      ])
    case .nordic(let packet):
      members += JSONValue.fields(["init_packet": .object(packet.members)])
    }
    return members
  }

  /// Whether the image is what it says of itself, in a word: `whole`, `changed`, …
  private var integrityWord: String {
    do throws(ProofFault) {
      switch try checkIntegrity() {
      case .whole: return "whole"
      case .notStated: return "not stated"
      case .encrypted: return "encrypted"
      }
    } catch {
      return error == .hashMissing ? "missing" : "changed"
    }
  }
}

extension FirmwarePackage {
  /// Of all images, in bytes.
  var size: Int { parts.map(\.bytes.count).reduce(0, +) }

  /// Of all images' bytes in their order.
  var crc32: UInt32 {
    guard parts.count > 1 else { return parts[0].crc32 }
    var crc = CRC32()
    for part in parts { crc.update(part.bytes) }
    return crc.value
  }

  /// What the device runs when all is done: the last image's version.
  var version: FirmwareVersion? { parts[parts.count - 1].version }

  /// The facts of every image, with an empty line between two.
  var lines: [String] {
    var lines = parts.count == 1 ? [] : ["\(name)  \(kind.rawValue), \(parts.count) images", ""]
    for (number, part) in parts.enumerated() {
      if number > 0 { lines.append("") }
      var facts = part.facts
      facts.insert(["kind", kind.rawValue], at: 2)
      lines += Text.table(facts)
    }
    return lines
  }
}

extension Console {
  /// One event for each image of a package.
  func event(_ package: FirmwarePackage) {
    for part in package.parts {
      event(
        "image",
        part.members
          + JSONValue.fields([
            "kind": .string(package.kind.rawValue), "package": .string(package.name),
            "parts": .integer(package.parts.count),
          ]))
    }
  }
}

extension AddressLayout {
  fileprivate var facts: [[String]] {
    var rows: [[String]] = [
      ["address", "0x" + Text.hex(lowestAddress)], ["data", Text.grouped(dataCount) + " B"],
    ]
    switch start {
    case .linear(let address): rows.append(["start", "0x" + Text.hex(address)])
    case .segment(let cs, let ip):
      rows.append(["start", "\(Text.hex(UInt32(cs))):\(Text.hex(UInt32(ip)))"])
    case nil: break
    }
    return rows
  }
}

extension MCUbootPlace {
  fileprivate var facts: [[String]] {
    var rows: [[String]] = [["image", String(imageIndex)]]
    if let slot { rows.append(["slot", String(slot)]) }
    return rows
  }
}
