import OtaflashConsole
import OtaflashDelta
import OtaflashFirmware

extension FirmwareImage {
  /// The image as text, such as `app-1.3.0.bin  266,112 B  crc32 9f2c01aa`.
  package var summary: String {
    "\(name)  \(Text.grouped(bytes.count)) B  crc32 \(Text.hex(crc32))"
  }

  /// The version, with the build number of an MCUboot image; `nil` if unknown.
  package var versionName: String? { mcuboot?.version.description ?? version?.description }

  /// All known facts of the image, one row each.
  package var facts: [[String]] {
    var rows: [[String]] = []
    rows.append(["name", name])
    rows.append(["format", format.rawValue])
    rows.append(["size", Text.grouped(bytes.count) + " B"])
    rows.append(["crc32", Text.hex(crc32)])
    rows.append(["sha256", Text.hex(sha256)])
    rows.append(["version", versionName ?? "unknown"])
    if let foreignContent { rows.append(["holds", foreignContent.rawValue + ": not firmware"]) }
    if let patchFile { rows += patchFile.facts }
    if let embedded = EmbeddedImage(in: self) { rows.append(["holds", embedded.words(in: self)]) }
    rows.append(["hardware", hardware.map { $0 == .any ? "any" : "\($0)" } ?? "unknown"])
    if let layout { rows += layout.facts }
    switch content {
    case .plain: break
    case .telink(let image):
      rows.append(["telink", "CRC32 at the end \(Text.hex(image.checksum))"])
    case .suota(let image): rows += image.facts
    case .oad(let image): rows += image.facts
    case .microbit(let image): rows += image.programs.map { ["micro:bit", $0.words] }
    case .mcuboot(let image, let place):
      rows += place.facts + image.facts(holding: integrityWord)
      rows += BootloaderCosts(of: self, pageSize: 4096)?.facts ?? []
      rows += installer.map { $0.parts.map { ["installs", $0.words] } } ?? []
    case .nordic(let packet): rows += packet.facts(holding: integrityWord)
    case .esp(let image): rows += image.facts(holding: integrityWord)
    case .gbl(let file): rows += file.facts
    }
    return rows
  }

  package var members: [JSONValue.Member] {
    let address: Int? = layout.map { Int($0.lowestAddress) }
    var members = JSONValue.fields([
      "name": .string(name), "format": .string(format.rawValue), "size": .integer(bytes.count),
      "crc32": .string(Text.hex(crc32)), "sha256": .string(Text.hex(sha256)),
      "version": .text(version), "hardware": .text(hardware),
      "integrity": .string(integrityWord),
      "holds": .text(foreignContent?.rawValue ?? patchFile?.name), "address": .integer(address),
      "left_out": layout?.leftOutJSON, "patch": patchFile?.json,
    ])
    switch content {
    case .plain: break
    case .telink(let image):
      let telink: JSONValue = .object(["crc32": .string(Text.hex(image.checksum))])
      members += JSONValue.fields(["telink": telink])
    case .suota(let image): members += JSONValue.fields(["suota": .object(image.members)])
    case .oad(let image): members += JSONValue.fields(["oad": .object(image.members)])
    case .microbit(let image):
      members += JSONValue.fields(["microbit": .array(image.programs.map(\.json))])
    case .mcuboot(let image, let place):
      members += JSONValue.fields([
        "image_index": .integer(place.imageIndex), "slot": .integer(place.slot),
        "mcuboot": .object(image.members),
        "installs": installer.map { .array($0.parts.map(\.json)) },
      ])
    case .nordic(let packet):
      members += JSONValue.fields(["init_packet": .object(packet.members)])
    case .esp(let image): members += JSONValue.fields(["esp": .object(image.members)])
    case .gbl(let file): members += JSONValue.fields(["gbl": .object(file.members)])
    }
    return members
  }

  /// The result of the comparison of the image with its hash, as a word: `whole`, `changed`, …
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
  /// The size of all images, in bytes.
  package var size: Int { parts.map(\.bytes.count).reduce(0, +) }

  /// The CRC32 of the bytes of all images, in their order.
  package var crc32: UInt32 {
    guard parts.count > 1 else { return parts[0].crc32 }
    var crc = CRC32()
    for part in parts { crc.update(part.bytes) }
    return crc.value
  }

  /// The version after the update, with the build number of an MCUboot image; `nil` if unknown.
  package var versionName: String? { parts[parts.count - 1].versionName }

  /// The version that the device runs after the update: the version of the last image; `nil` if
  /// unknown.
  package var version: FirmwareVersion? { parts[parts.count - 1].version }

  /// The facts of every image, with an empty line between two images.
  package var lines: [String] {
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
  /// Writes one event for each image of a package.
  package func event(_ package: FirmwarePackage) {
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

extension EmbeddedImage {
  /// Returns a text such as `an MCUboot image 1.2.3+4 at 0x0000C000 (--region
  /// 0x0000C000..0x00012345)`.
  package func words(in outer: FirmwareImage) -> String {
    let base = outer.layout.map { Int($0.lowestAddress) } ?? 0
    let place = "0x" + Text.hex(UInt32(truncatingIfNeeded: base + offset))
    let address = outer.layout == nil ? "offset \(place)" : place
    let region = if let region = region(in: outer) { " (--region \(region))" } else { "" }
    return "an MCUboot image \(image.version) at \(address)\(region)"
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
    return rows + leftOut.map { ["omitted", $0.words] }
  }

  /// The omitted ranges as JSON; `nil` if nothing was omitted.
  fileprivate var leftOutJSON: JSONValue? {
    leftOut.isEmpty ? nil : .array(leftOut.map(\.json))
  }
}

extension AddressLayout.LeftOut {
  /// The range as text, such as `0x10001014..0x1000101C, 8 B: UICR (nRF51, nRF52)`.
  fileprivate var words: String {
    let why = known.map { "\($0.name) (\($0.families))" } ?? "outside of the requested region"
    return "\(region), \(Text.grouped(dataCount)) B: \(why)"
  }

  fileprivate var json: JSONValue {
    let address = JSONValue.integer(Int(region.range.lowerBound))
    let end = JSONValue.integer(Int(region.range.upperBound))
    return .object([
      "address": address, "end": end, "data": .integer(dataCount), "name": .text(known?.name),
      "families": .text(known?.families), "source": .text(known?.source),
    ])
  }
}

extension FirmwareImage {
  /// Notes about the parts of the file that are not sent by default.
  package var leftOutNotes: [String] {
    (layout?.leftOut ?? []).filter { $0.known != nil }.map {
      "omitted \($0.words); --region selects another range"
    }
  }
}

extension MCUbootPlace {
  fileprivate var facts: [[String]] {
    var rows: [[String]] = [["image", String(imageIndex)]]
    if let slot { rows.append(["slot", String(slot)]) }
    return rows
  }
}
