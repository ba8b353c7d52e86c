import OtaflashFirmware

/// The boot loader of a simulated board: it checks a pending image and switches to it, and takes an
/// unconfirmed one back.
struct BootLoader: Sendable {
  /// What a boot led to; the raw values are those of RUNNING (docs/ota-service.md, 4.2).
  enum Outcome: UInt8, Sendable {
    case normal = 0
    case activated = 1
    case rejectedOrReverted = 2
  }

  static let factoryImageSize = 48 * 1024

  let flash: SimulatedFlash
  let layout: FlashLayout

  /// Reads the record; a board without one gets its factory image first.
  func record(
    orFactory version: FirmwareVersion, _ hardware: HardwareID, random: SeededRandom
  ) throws(FlashFault) -> BootRecord {
    if let record = try newestRecord() { return record }
    var random = random
    let bytes = random.bytes(count: min(Self.factoryImageSize, layout.slotSize))
    try replace(slot: 0, with: bytes)
    let record = BootRecord(
      factoryImage: SlotImage(
        size: UInt32(bytes.count), crc32: CRC32.checksum(bytes), version: version,
        hardware: hardware))
    try store(record)
    return record
  }

  /// Decides what runs now.
  func boot(
    _ record: BootRecord, faults: FaultPlan, startsOnTrial: Bool
  ) throws(FlashFault) -> (BootRecord, Outcome) {
    var next = record
    var outcome = Outcome.normal
    if record.isPending {
      next.isPending = false
      if faults.contains(.reverts) {
        outcome = .rejectedOrReverted
      } else if faults.contains(.comesBackOld) {
        outcome = .normal
      } else if try isWhole(slot: record.inactive, record.images[record.inactive]) {
        next.active = record.inactive
        next.isOnTrial = startsOnTrial
        outcome = .activated
        if faults.contains(.otherImage) { next.images[next.active].crc32 ^= 0xFFFF_FFFF }
      } else {
        outcome = .rejectedOrReverted
      }
    } else if record.isOnTrial {
      next.active = record.inactive
      next.isOnTrial = false
      outcome = .rejectedOrReverted
    }
    return (next == record ? record : try storeNext(next), outcome)
  }

  /// Stores a changed record beside the one it follows.
  func storeNext(_ record: BootRecord) throws(FlashFault) -> BootRecord {
    var next = record
    next.sequence += 1
    try store(next)
    return next
  }

  func image(of record: BootRecord) throws(FlashFault) -> [UInt8] {
    let start = layout.slot(record.active)
    return try flash.read(start..<start + Int(record.images[record.active].size))
  }

  private func isWhole(slot: Int, _ image: SlotImage) throws(FlashFault) -> Bool {
    guard image.size > 0, image.size <= layout.slotSize else { return false }
    let start = layout.slot(slot)
    return CRC32.checksum(try flash.read(start..<start + Int(image.size))) == image.crc32
  }

  private func newestRecord() throws(FlashFault) -> BootRecord? {
    var newest: BootRecord?
    for address in layout.bootRecords {
      let bytes = try flash.read(address..<address + BootRecord.encodedSize)
      guard let record = BootRecord(decoding: bytes) else { continue }
      if record.sequence > newest?.sequence ?? 0 { newest = record }
    }
    return newest
  }

  private func store(_ record: BootRecord) throws(FlashFault) {
    let page = layout.bootRecords[Int(record.sequence % 2)]
    try flash.perform(.erase(page: page))
    try flash.perform(.write(record.encoded, at: page))
  }

  private func replace(slot: Int, with bytes: [UInt8]) throws(FlashFault) {
    let start = layout.slot(slot)
    for page in stride(from: start, to: start + layout.slotSize, by: layout.pageSize) {
      try flash.perform(.erase(page: page))
    }
    try flash.perform(.write(bytes, at: start))
  }
}
