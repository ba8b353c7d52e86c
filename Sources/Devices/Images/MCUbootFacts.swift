import OtaflashConsole
import OtaflashFirmware

extension MCUbootImage {
  /// The signatures of the image, in their order.
  package var signatures: [MCUbootTLV] {
    entries.filter {
      [.rsa2048, .rsa3072, .ecdsa224, .ecdsa, .ed25519].contains($0.type)
    }
  }

  /// - Parameter integrity: the result of the comparison of the hash, as a word.
  package func facts(holding integrity: String) -> [[String]] {
    let flags = header.flags.words.joined(separator: ", ")
    let hashed: String = if let hash { hash.algorithm.rawValue + ", " + integrity } else { "none" }
    var rows: [[String]] = []
    rows.append(["header", "\(header.headerSize) B"])
    rows.append(["body", Text.grouped(Int(header.bodySize)) + " B"])
    rows.append(["load address", "0x" + Text.hex(header.loadAddress)])
    rows.append(["flags", flags.isEmpty ? "none" : flags])
    rows.append(["hash", hashed])
    if let decompressedSize, let decompressedHash {
      rows.append(["decompressed", Text.grouped(decompressedSize) + " B, header and body"])
      rows.append(["runs as", Text.hex(decompressedHash)])
    } else if isCompressed {
      rows.append(["decompressed", "not stated: no bootloader will start it"])
    }
    if isEncrypted && integrity == "whole" {
      rows.append(["encrypted", "no, despite its flags: for slot 0, not for an update"])
    }
    rows.append([
      "signed", signatures.isEmpty ? "no" : "yes; 'image verify --key' checks the signer",
    ])
    if let vendorID { rows.append(["vendor", "\(vendorID)"]) }
    if let classID { rows.append(["class", "\(classID)"]) }
    if let securityCounter { rows.append(["counter", String(securityCounter)]) }
    for needed in dependencies {
      rows.append(["needs", "image \(needed.imageIndex), at least \(needed.version)"])
    }
    if let trailer { rows.append(["trailer", trailer.words]) }
    for entry in protectedEntries { rows.append(["protected", entry.line]) }
    for entry in entries { rows.append(["entry", entry.line]) }
    return rows
  }

  package var members: [JSONValue.Member] {
    let words: [JSONValue] = header.flags.words.map { .string($0) }
    let counter: Int? = securityCounter.map { Int($0) }
    let needed: [JSONValue] = dependencies.map { dependency in
      .object([
        "image_index": .integer(Int(dependency.imageIndex)), "version": .text(dependency.version),
      ])
    }
    return JSONValue.fields([
      "version": .text(version), "header_size": .integer(Int(header.headerSize)),
      "body_size": .integer(Int(header.bodySize)),
      "load_address": .integer(Int(header.loadAddress)),
      "flags": .integer(Int(header.flags.rawValue)), "flag_words": .array(words),
      "hash_algorithm": .text(hash?.algorithm.rawValue),
      "hash": .text(hash.map { Text.hex($0.bytes) }),
      "decompressed_size": .integer(decompressedSize),
      "decompressed_hash": .text(decompressedHash.map { Text.hex($0) }),
      "security_counter": .integer(counter),
      "vendor_id": .text(vendorID), "class_id": .text(classID),
      "dependencies": .array(needed), "trailer": .text(trailer?.words),
      "protected_entries": .array(protectedEntries.map(\.json)),
      "entries": .array(entries.map(\.json)),
    ])
  }
}

extension MCUbootTLV {
  /// The entry as text, such as `0x0010 SHA-256, 32 B: 60f8bf3f…`.
  fileprivate var line: String {
    let digits = value.count > 8 ? Text.hex(Array(value.prefix(8))) + "…" : Text.hex(value)
    return "0x\(Text.hex(type.rawValue)) \(type), \(value.count) B: \(digits)"
  }

  fileprivate var json: JSONValue {
    .object([
      "type": .integer(Int(type.rawValue)), "name": .string(type.description),
      "offset": .integer(offset), "value": .string(Text.hex(value)),
    ])
  }
}

extension MCUbootTrailer {
  /// The trailer as text, such as `confirmed, copy not done, no swap`.
  fileprivate var words: String {
    let imageOK =
      switch imageOK {
      case .set: "confirmed"
      case .unset: "not confirmed"
      case .bad(let byte): "confirmation \(Text.hex(byte))"
      }
    let copyDone =
      switch copyDone {
      case .set: "copy done"
      case .unset: "copy not done"
      case .bad(let byte): "copy \(Text.hex(byte))"
      }
    let swap =
      switch swap {
      case .none: "no swap"
      case .test: "swap on trial"
      case .permanent: "permanent swap"
      case .revert: "swap back"
      case .fail: "failed swap"
      case .unknown(let number): "swap \(number)"
      }
    return "\(imageOK), \(copyDone), \(swap)"
  }
}

extension InstallerContent.Part {
  /// The part as text, such as `firmware loader, 48,200 B at 0x00165000`.
  package var words: String { "\(name), \(Text.grouped(size)) B at 0x\(Text.hex(address))" }

  package var json: JSONValue {
    .object([
      "kind": .string(name), "address": .integer(Int(address)), "size": .integer(size),
      "hash": .text(hash.map { Text.hex($0.bytes) }),
    ])
  }

  private var name: String {
    switch kind {
    case .softDevice: "SoftDevice"
    case .firmwareLoader: "firmware loader"
    case .other(let number): "image \(number)"
    }
  }
}
