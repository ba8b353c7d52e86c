import OtaflashFirmware

/// The bootloader of a simulated board: it checks a pending image and switches to it, and reverts
/// an unconfirmed image. Slots exchange their roles instead of their contents; `exchangeTime`
/// returns the time that a real exchange would need.
struct Bootloader: Sendable {
  /// The result of a boot; the raw values are the values of RUNNING (docs/ota-service.md, 4.2).
  enum Outcome: UInt8, Sendable {
    case normal = 0
    case activated = 1
    case rejectedOrReverted = 2
  }

  static let factoryImageSize = 48 * 1024

  let flash: SimulatedFlash
  let layout: FlashLayout

  /// Reads the record; on a board without a record, installs the factory image first.
  func record(
    orFactory version: FirmwareVersion, _ hardware: HardwareID, random: SeededRandom
  ) throws(FlashFault) -> BootRecord {
    try record { () -> (bytes: [UInt8], version: FirmwareVersion, hardware: HardwareID) in
      var random = random
      let size = min(Self.factoryImageSize, layout.slotSize)
      return (random.bytes(count: size), version, hardware)
    }
  }

  /// Reads the record; on a board without a record, installs the image that `makeFactoryImage`
  /// creates.
  func record(
    orFactory makeFactoryImage: () -> (
      bytes: [UInt8], version: FirmwareVersion, hardware: HardwareID
    )
  ) throws(FlashFault) -> BootRecord {
    if let record = try newestRecord() { return record }
    let (bytes, version, hardware) = makeFactoryImage()
    try replace(slot: 0, with: bytes)
    let record = BootRecord(
      factoryImage: SlotImage(
        size: UInt32(bytes.count), crc32: CRC32.checksum(bytes), version: version,
        hardware: hardware))
    try store(record)
    return record
  }

  /// Selects the image to run.
  ///
  /// - Parameter isGood: checks a pending image in addition to its checksum.
  func boot(
    _ record: BootRecord, faults: FaultPlan, startsOnTrial: Bool,
    isGood: (ArraySlice<UInt8>) -> Bool = { _ in true }
  ) throws(FlashFault) -> (BootRecord, Outcome) {
    var next = record
    var outcome = Outcome.normal
    if record.isPending {
      next.isPending = false
      next.isPermanent = false
      if faults.contains(.reverts) {
        outcome = .rejectedOrReverted
      } else if faults.contains(.comesBackOld) {
        outcome = .normal
      } else if try isWhole(slot: record.inactive, record.images[record.inactive], isGood) {
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

  /// Stores a changed record and keeps the previous record.
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

  /// Returns the time to move the pages of an image to the other slot.
  func exchangeTime(_ image: SlotImage, movesPerPage: Int) -> Duration {
    let pages = (Int(image.size) + layout.pageSize - 1) / layout.pageSize
    let geometry = flash.geometry
    return (geometry.eraseTime + geometry.writeTimePer4KiB) * (pages * movesPerPage)
  }

  private func isWhole(
    slot: Int, _ image: SlotImage, _ isGood: (ArraySlice<UInt8>) -> Bool
  ) throws(FlashFault) -> Bool {
    guard image.size > 0, image.size <= layout.slotSize else { return false }
    let start = layout.slot(slot)
    let bytes = try flash.read(start..<start + Int(image.size))
    return CRC32.checksum(bytes) == image.crc32 && isGood(bytes[...])
  }

  func newestRecord() throws(FlashFault) -> BootRecord? {
    var newest: BootRecord?
    for address in layout.bootRecords {
      let bytes = try flash.read(address..<address + BootRecord.encodedSize)
      guard let record = BootRecord(decoding: bytes) else { continue }
      if record.sequence > newest?.sequence ?? 0 { newest = record }
    }
    return newest
  }

  /// Returns the flash operations that store a record, whose sequence number the caller has
  /// incremented, and that keep the previous record.
  func operations(storing record: BootRecord) -> [FlashOperation] {
    let page = layout.bootRecords[Int(record.sequence % 2)]
    return [.erase(page: page), .write(record.encoded, at: page)]
  }

  func store(_ record: BootRecord) throws(FlashFault) {
    for operation in operations(storing: record) { try flash.perform(operation) }
  }

  private func replace(slot: Int, with bytes: [UInt8]) throws(FlashFault) {
    let start = layout.slot(slot)
    for page in stride(from: start, to: start + layout.slotSize, by: layout.pageSize) {
      try flash.perform(.erase(page: page))
    }
    let padding = (4 - bytes.count % 4) % 4
    try flash.perform(.write(bytes + [UInt8](repeating: 0xFF, count: padding), at: start))
  }
}
