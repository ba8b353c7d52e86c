import OtaflashATT
import OtaflashFirmware
import OtaflashGATT

/// A device with legacy DFU: one or two banks, and at each boot either the application or the
/// bootloader.
final class LegacyFirmware: BoardFirmware {
  private struct State: Sendable {
    var bootRecord: BootRecord
    /// A register that keeps its value through a reset, but not through a loss of power.
    var entersBootloader = false
    var isButtonHeld: Bool
    /// Whether a new image has been started.
    var hasActivated = false
  }

  let settings: LegacyBootloaderSettings
  let parts: BoardParts
  private let loader: Bootloader
  private let state: Shared<State>

  init(_ settings: LegacyBootloaderSettings, of parts: BoardParts) throws(FlashFault) {
    self.settings = settings
    self.parts = parts
    loader = Bootloader(flash: parts.flash, layout: parts.settings.layout)
    let bootRecord = try loader.record {
      FactoryImage.make(parts.settings, random: parts.factoryRandom)
    }
    state = Shared(
      State(
        bootRecord: bootRecord,
        isButtonHeld: settings.variant != .infinitime && settings.entry == .button))
  }

  /// The address at which a host first finds the device; if a button starts the bootloader, the
  /// address of the bootloader.
  var address: DeviceAddress {
    settings.variant != .infinitime && settings.entry == .button
      ? bootloaderAddress : applicationAddress
  }

  private var applicationAddress: DeviceAddress { parts.settings.address }
  private var bootloaderAddress: DeviceAddress {
    settings.isMicrobit ? applicationAddress : applicationAddress.successor
  }

  var running: SlotImage { state.withLock { $0.bootRecord.images[$0.bootRecord.active] } }

  /// Returns the image in flash; empty if a running bootloader has erased or changed the
  /// application.
  func runningImage() throws(FlashFault) -> [UInt8] {
    let record = try loader.newestRecord() ?? state.withLock { $0.bootRecord }
    return try isWhole(record) ? loader.image(of: record) : []
  }

  /// The ATT_MTU of the profile, limited to the maximum ATT_MTU of the SoftDevice.
  var receiveMTU: ATTMTU {
    ATTMTU(clamping: min(parts.settings.mtu, settings.mtuMaximum))
  }

  private var hasOneBank: Bool { settings.variant != .infinitime && settings.banks == .single }

  // MARK: Boot

  func boot(_ number: Int) throws(FlashFault) -> Boot {
    if let bootRecord = try loader.newestRecord() {
      state.withLock { $0.bootRecord = bootRecord }
    }
    let faults = parts.settings.faults
    var (bootRecord, isNew) = try startPending(state.withLock { $0.bootRecord })
    let isRunnable = try isWhole(bootRecord)
    if isNew { state.withLock { $0.hasActivated = true } }
    if state.withLock({ $0.hasActivated }), faults.contains(.otherImage) {
      bootRecord.images[bootRecord.active].version = FirmwareVersion(0, 0, 1)
    }
    let entersBootloader = state.withLock { [bootRecord] state in
      defer { state.entersBootloader = false }
      state.bootRecord = bootRecord
      if isNew { state.isButtonHeld = false }
      return state.entersBootloader || state.isButtonHeld || !isRunnable
    }
    let image = bootRecord.images[bootRecord.active]
    let random = parts.random.forked(for: 1000 + UInt64(number))
    return Boot(
      program: try makeProgram(
        bootRecord, entersBootloader: entersBootloader, image, random, isFirstBoot: number == 0),
      isActivation: isNew,
      flashTime: isNew && !hasOneBank ? loader.exchangeTime(image, movesPerPage: 1) : .zero)
  }

  /// Starts the pending image, if any. Returns whether a new image runs.
  private func startPending(
    _ record: BootRecord
  ) throws(FlashFault) -> (BootRecord, isNew: Bool) {
    guard hasOneBank else {
      let (next, outcome) = try loader.boot(
        record, faults: parts.settings.faults, startsOnTrial: parts.settings.startsOnTrial)
      return (next, outcome == .activated)
    }
    guard record.isPending else { return (record, false) }
    var started = record
    started.isPending = false
    started = try loader.storeNext(started)
    return (started, try isWhole(started))
  }

  /// Returns whether the image matches the checksum in the settings; the bootloader starts no other
  /// image. A micro:bit has no checksum; its bootloader only requires that the first word is not
  /// erased. Always true with two banks, because the running image is never overwritten.
  private func isWhole(_ record: BootRecord) throws(FlashFault) -> Bool {
    guard hasOneBank else { return true }
    let image = record.images[record.active]
    guard image.size > 0 else { return false }
    let bytes = try loader.image(of: record)
    guard !settings.isMicrobit else { return bytes.prefix(4).contains { $0 != 0xFF } }
    return CRC32.checksum(bytes) == image.crc32
  }

  private func makeProgram(
    _ bootRecord: BootRecord, entersBootloader: Bool, _ image: SlotImage, _ random: SeededRandom,
    isFirstBoot: Bool
  ) throws(FlashFault) -> any BoardProgram {
    if parts.settings.faults.contains(.badBlock) {
      let bank = hasOneBank ? bootRecord.active : bootRecord.inactive
      parts.weakenPage(of: parts.settings.layout.slot(bank))
    }
    if settings.variant == .infinitime {
      var settings = settings
      if settings.isEnabledTillReboot, !isFirstBoot { settings.isDisabled = true }
      return program(
        InfiniTimeReceiver(settings, bootRecord: bootRecord, parts: parts),
        name: parts.applicationName, at: applicationAddress, information(of: image),
        LocalService.battery(of: parts.settings), random,
        companion: try fileService(isDisabled: settings.isDisabled, random))
    }
    guard entersBootloader else {
      return LegacyApplication(
        of: self, information: information(of: image), at: applicationAddress)
    }
    return program(
      LegacyBootloader(settings, bootRecord: bootRecord, parts: parts),
      name: settings.variant == .adafruit ? "AdaDFU" : "DfuTarg", at: bootloaderAddress,
      bootloaderInformation, [], random)
  }

  private func program(
    _ machine: some DFUMachine, name: String, at address: DeviceAddress,
    _ information: LocalService?, _ others: [LocalService],
    _ random: SeededRandom, companion: (any DFUCompanion)? = nil
  ) -> any BoardProgram {
    DFUProgram(
      machine, as: .legacyDFU(of: settings.variant), name: name, address: address,
      information: information, others: others, companion: companion, receiveMTU: receiveMTU,
      writesWholeWords: settings.variant == .adafruit, with: parts, random: random)
  }

  /// Returns the file service of the watch; its files survive every restart.
  private func fileService(
    isDisabled: Bool, _ random: SeededRandom
  ) throws(FlashFault) -> WatchFileService? {
    guard settings.dataPages > 0 else { return nil }
    let store = try FlashDataStore(
      in: parts.flash, at: parts.settings.layout.size, pages: settings.dataPages)
    let server = WatchFileServer(WatchFileSystem(store), random: random.forked(for: 17))
    return WatchFileService(server, isDisabled: isDisabled, with: parts)
  }

  /// The Device Information Service of Adafruit's bootloader, which differs from the application's
  /// service.
  private var bootloaderInformation: LocalService? {
    guard settings.variant == .adafruit else { return nil }
    return .deviceInformation([
      0x2A29: Self.manufacturer(settings.variant), 0x2A24: "Bluefruit Feather nRF52832",
      0x2A26: "\(settings.bootloaderVersion) s132 6.1.1",
    ])
  }

  private static func manufacturer(_ variant: LegacyBootloaderSettings.Variant) -> String {
    switch variant {
    case .sdk11: "Nordic Semiconductor"
    case .adafruit: "Adafruit Industries"
    case .infinitime: "PINE64"
    }
  }

  private func information(of image: SlotImage) -> LocalService? {
    guard settings.hasDeviceInformation else { return nil }
    return .deviceInformation([
      0x2A29: Self.manufacturer(settings.variant),
      0x2A26: image.version.description,
    ])
  }

  /// Called when the application resets into the bootloader.
  func enterBootloader() { state.withLock { $0.entersBootloader = true } }
}
