/// A list of entries after the body: a magic, the area's size, and the entries (MCUboot design,
/// `struct image_tlv_info`).
struct MCUbootTLVArea {
  static let infoSize = 4
  static let entryHeaderSize = 4
  static let magic: UInt16 = 0x6907
  static let protectedMagic: UInt16 = 0x6908
  /// The maximum number of entries; no image needs more.
  static let entryMaximum = 128

  let entries: [MCUbootTLV]
  /// The offset of the first byte after the area.
  let end: Int

  /// Decodes the area at an offset of a file.
  init(
    decoding bytes: [UInt8], at offset: Int, magic: UInt16
  ) throws(MCUbootFault) {
    guard let found = bytes.littleEndian(UInt16.self, at: offset),
      let stated = bytes.littleEndian(UInt16.self, at: offset + 2)
    else { throw .areaMissing(offset: offset) }
    guard found == magic else { throw .wrongAreaMagic(found, expected: magic, offset: offset) }
    let size = Int(stated)
    guard size >= Self.infoSize else { throw .areaTooShort(stated: size, offset: offset) }
    guard size <= bytes.count - offset else {
      throw .areaBeyondEnd(stated: size, left: bytes.count - offset, offset: offset)
    }
    end = offset + size
    entries = try Self.entries(in: bytes[(offset + Self.infoSize)..<end])
  }

  private static func entries(in area: ArraySlice<UInt8>) throws(MCUbootFault) -> [MCUbootTLV] {
    var entries: [MCUbootTLV] = []
    var offset = area.startIndex
    while offset < area.endIndex {
      guard entries.count < entryMaximum else {
        throw .tooManyEntries(limit: entryMaximum, offset: offset)
      }
      guard let type = area.littleEndian(UInt16.self, at: offset),
        let length = area.littleEndian(UInt16.self, at: offset + 2)
      else { throw .entryCutOff(offset: offset) }
      let start = offset + entryHeaderSize
      guard Int(length) <= area.endIndex - start else {
        throw .entryBeyondArea(
          MCUbootTLVType(rawValue: type), length: Int(length), left: area.endIndex - start,
          offset: offset)
      }
      let entry = MCUbootTLV(
        type: MCUbootTLVType(rawValue: type), value: Array(area[start..<(start + Int(length))]),
        offset: offset)
      if let fixed = entry.type.fixedLength, fixed != entry.value.count {
        throw .wrongLength(entry.type, expected: fixed, found: entry.value.count, offset: offset)
      }
      entries.append(entry)
      offset = start + Int(length)
    }
    return entries
  }
}
