import OtaflashATT
import OtaflashFirmware
import OtaflashGATT

/// A device of Silicon Labs: the application in the first slot, and either the AppLoader or a
/// second slot for a GBL file.
final class SilabsFirmware: BoardFirmware {
  private struct State: Sendable {
    var bootRecord: BootRecord
    /// A register that keeps its value through a reset, but not through a loss of power.
    var entersLoader = false
    /// Whether a transfer over the loader was interrupted before the first boot.
    var lacksApplication: Bool
    /// The CRC32 of the application at the last boot, to recognize a new application.
    var booted: UInt32
    var hasActivated = false
  }

  /// The versions of the AppLoader (2.4.3.0) and the bootloader (2.4.3) in SDK 4.4.
  private static let loaderVersion: [UInt8] = [2, 0, 4, 0, 3, 0, 0, 0]
  private static let bootloaderVersion: [UInt8] = [3, 0, 4, 2]
  private static let loaderName = "OTA"

  let settings: SilabsSettings
  let parts: BoardParts
  private let loader: Bootloader
  private let state: Shared<State>

  init(_ settings: SilabsSettings, of parts: BoardParts) throws(FlashFault) {
    self.settings = settings
    self.parts = parts
    loader = Bootloader(flash: parts.flash, layout: parts.settings.layout)
    let record = try loader.record {
      FactoryImage.make(parts.settings, random: parts.factoryRandom)
    }
    state = Shared(
      State(
        bootRecord: record,
        lacksApplication: settings.receiver == .loader && settings.start == .loader,
        booted: record.images[0].crc32))
  }

  var address: DeviceAddress { parts.settings.address }

  var running: SlotImage { state.withLock { $0.bootRecord.images[0] } }

  /// Returns the GBL file with one program tag that creates the application in flash; empty if the
  /// application is incomplete.
  func runningImage() throws(FlashFault) -> [UInt8] {
    let record = try loader.newestRecord() ?? state.withLock { $0.bootRecord }
    guard try isWhole(record) else { return [] }
    return GBLAssembly.file(
      try application(of: record), version: record.images[0].version.word)
  }

  private func application(of record: BootRecord) throws(FlashFault) -> [UInt8] {
    let start = parts.settings.layout.slot(0)
    return try parts.flash.read(start..<start + Int(record.images[0].size))
  }

  /// Returns whether the application is complete.
  private func isWhole(_ record: BootRecord) throws(FlashFault) -> Bool {
    let image = record.images[0]
    guard image.size > 0, image.size <= parts.settings.slotSize else { return false }
    return CRC32.checksum(try application(of: record)) == image.crc32
  }

  // MARK: Boot

  func boot(_ number: Int) throws(FlashFault) -> Boot {
    let faults = parts.settings.faults
    var record = try loader.newestRecord() ?? state.withLock { $0.bootRecord }
    let lacksApplication = state.withLock { state in
      defer { state.lacksApplication = false }
      return state.lacksApplication
    }
    if lacksApplication {
      record.images[0] = SlotImage()
      record = try loader.storeNext(record)
    }
    var time = Duration.zero
    if record.isPending {
      time = loader.exchangeTime(record.images[1], movesPerPage: 1)
      record = try install(
        record, isKept: faults.contains(.reverts) || faults.contains(.comesBackOld))
    }
    let isRunnable = try isWhole(record)
    var image = record.images[0]
    let (entersLoader, isNew) = state.withLock { [record] state in
      let isNew = isRunnable && record.images[0].crc32 != state.booted
      if isRunnable { state.booted = record.images[0].crc32 }
      if isNew { state.hasActivated = true }
      state.bootRecord = record
      defer { state.entersLoader = false }
      return (state.entersLoader, isNew)
    }
    if faults.contains(.otherImage), state.withLock({ $0.hasActivated }) {
      image.version = FirmwareVersion(0, 0, 1)
    }
    return Boot(
      program: program(record, image, entersLoader: entersLoader || !isRunnable),
      isActivation: isNew, flashTime: time)
  }

  /// Programs the application from the file in the second slot.
  ///
  /// - Parameter isKept: whether the bootloader rejects the file.
  private func install(
    _ pending: BootRecord, isKept: Bool
  ) throws(FlashFault) -> BootRecord {
    var record = pending
    record.isPending = false
    let layout = parts.settings.layout
    let file = try parts.flash.read(
      layout.slot(1)..<layout.slot(1) + Int(record.images[1].size))
    if !isKept, CRC32.checksum(file) == record.images[1].crc32,
      let stored = StoredProgram(
        file, requiresSignature: settings.requiresSignature, sizeMaximum: layout.slotSize)
    {
      try loader.replaceApplication(with: stored.bytes)
      record.images[0] = SlotImage(describing: stored.bytes)
    }
    return try loader.storeNext(record)
  }

  private func program(
    _ record: BootRecord, _ image: SlotImage, entersLoader: Bool
  ) -> any BoardProgram {
    if parts.settings.faults.contains(.badBlock) {
      let slot = settings.receiver == .loader ? 0 : 1
      parts.weakenPage(of: parts.settings.layout.slot(slot))
    }
    let others =
      (settings.hasDeviceInformation
        ? [
          LocalService.deviceInformation([
            0x2A29: "Silicon Laboratories", 0x2A26: image.version.description,
          ])
        ] : []) + LocalService.battery(of: parts.settings)
    switch settings.receiver {
    case .application:
      return SilabsProgram(
        AppOTA(settings, bootRecord: record, parts: parts), settings,
        name: parts.applicationName, service: SilabsUUID.service, others: others, with: parts)
    case .loader where entersLoader:
      return SilabsProgram(
        AppLoader(settings, bootRecord: record, parts: parts), settings, name: Self.loaderName,
        service: settings.loaderService == .standard
          ? SilabsUUID.service : SilabsUUID.otherService,
        versions: settings.hasVersions ? versions(of: record) : [], with: parts)
    case .loader: return SilabsApplication(of: self, others: others)
    }
  }

  private func versions(of record: BootRecord) -> [LocalCharacteristic] {
    [
      .readOnly(SilabsUUID.bootloaderVersion, Self.bootloaderVersion),
      .readOnly(SilabsUUID.loaderVersion, Self.loaderVersion),
      .readOnly(SilabsUUID.protocolVersion, [1]),
      .readOnly(
        SilabsUUID.applicationVersion, record.images[0].version.word.littleEndianBytes),
    ]
  }

  /// Called when the application resets into the loader.
  func enterLoader() { state.withLock { $0.entersLoader = true } }
}

extension Bootloader {
  /// Writes the application into the first slot.
  fileprivate func replaceApplication(with bytes: [UInt8]) throws(FlashFault) {
    let start = layout.slot(0)
    for page in stride(from: start, to: start + bytes.count, by: layout.pageSize) {
      try flash.perform(.erase(page: page))
    }
    let padding = [UInt8](repeating: 0xFF, count: (4 - bytes.count % 4) % 4)
    try flash.perform(.write(bytes + padding, at: start))
  }
}
