import OtaflashATT
import OtaflashFirmware
import OtaflashGATT
import Synchronization

/// The firmware of a device with Nordic's Secure DFU bootloader: the settings page, two banks, and
/// at each boot either the application or the bootloader.
final class SecureFirmware: BoardFirmware {
  /// The time that the bootloader waits for the application after an update of system parts.
  private static let followUpInactivity = Duration.seconds(10)

  private struct State {
    var bootRecord: BootRecord
    var record: SecureRecord
    /// The sequence number of the newest settings page.
    var sequence: UInt32
    /// A register that keeps its value through a reset, but not through a loss of power.
    var entersBootloader = false
    var isButtonHeld: Bool
    /// Whether a new application has been started.
    var hasActivated = false
    var bootloaderName = SecureFirmware.defaultName
    var misbehavior: SecureMisbehavior
  }

  private static let defaultName = "DfuTarg"

  let settings: SecureBootloaderSettings
  let parts: BoardParts
  private let loader: Bootloader
  private let pages: RecordPages
  private let state: Mutex<State>

  init(_ settings: SecureBootloaderSettings, of parts: BoardParts) throws(FlashFault) {
    self.settings = settings
    self.parts = parts
    loader = Bootloader(flash: parts.flash, layout: parts.settings.layout)
    pages = RecordPages(flash: parts.flash, pages: parts.settings.layout.metadata)
    let bootRecord = try loader.record {
      FactoryImage.make(parts.settings, random: parts.factoryRandom)
    }
    let newest = try pages.newest()
    state = Mutex(
      State(
        bootRecord: bootRecord,
        record: newest.flatMap { SecureRecord(decoding: $0.content) }
          ?? SecureRecord(
            applicationVersion: settings.applicationVersion,
            bootloaderVersion: settings.bootloaderVersion),
        sequence: newest?.sequence ?? 0, isButtonHeld: settings.entry == .button,
        misbehavior: SecureMisbehavior(plan: parts.settings.faults)))
  }

  /// The address at which a host first finds the device; if a button starts the bootloader, the
  /// address of the bootloader.
  var address: DeviceAddress {
    settings.entry == .button ? bootloaderAddress : applicationAddress
  }

  private var applicationAddress: DeviceAddress { parts.settings.address }

  /// The address of the bootloader. With bonds, it is the address of the application, because the
  /// keys belong to this address.
  private var bootloaderAddress: DeviceAddress {
    settings.entry == .bonded ? applicationAddress : applicationAddress.successor
  }

  var running: SlotImage {
    state.withLock {
      $0.record.isApplicationGone ? SlotImage() : $0.bootRecord.images[$0.bootRecord.active]
    }
  }

  /// Returns the image in flash; empty if a running bootloader has invalidated the application.
  func runningImage() throws(FlashFault) -> [UInt8] {
    let (bootRecord, record) = state.withLock { ($0.bootRecord, $0.record) }
    let newest = try pages.newest().flatMap { SecureRecord(decoding: $0.content) } ?? record
    return newest.isApplicationGone ? [] : try loader.image(of: bootRecord)
  }

  // MARK: Boot

  func boot(_ number: Int) throws(FlashFault) -> Boot {
    try readFlash()
    let faults = parts.settings.faults
    let (bootRecord, outcome) = try loader.boot(
      state.withLock { $0.bootRecord }, faults: faults, startsOnTrial: false)
    state.withLock { $0.bootRecord = bootRecord }
    let (isNew, isSystem) = try applyPending(outcome)
    if isNew { state.withLock { $0.hasActivated = true } }
    if state.withLock({ $0.hasActivated }), faults.contains(.otherImage) {
      state.withLock { $0.bootRecord.images[bootRecord.active].version = FirmwareVersion(0, 0, 1) }
    }
    let image = state.withLock { $0.bootRecord.images[bootRecord.active] }
    let entersBootloader = state.withLock { state in
      defer { state.entersBootloader = false }
      if isNew { state.isButtonHeld = false }
      return state.entersBootloader || state.isButtonHeld || state.record.isApplicationGone
    }
    let program: any BoardProgram =
      entersBootloader || isSystem
      ? makeBootloader(
        inactivity: isSystem ? Self.followUpInactivity : settings.inactivity, number: number)
      : ButtonlessApplication(of: self, runs: image, at: applicationAddress)
    return Boot(
      program: program, isActivation: isNew,
      flashTime: outcome == .activated ? loader.exchangeTime(image, movesPerPage: 1) : .zero)
  }

  /// Reads the records from flash, because their copies in memory do not survive a reset.
  private func readFlash() throws(FlashFault) {
    if let bootRecord = try loader.newestRecord() {
      state.withLock { $0.bootRecord = bootRecord }
    }
    guard let newest = try pages.newest(), let record = SecureRecord(decoding: newest.content)
    else { return }
    state.withLock { ($0.record, $0.sequence) = (record, newest.sequence) }
  }

  /// Applies the pending versions. Returns whether a new application runs, and whether a new
  /// bootloader or SoftDevice runs.
  private func applyPending(
    _ outcome: Bootloader.Outcome
  ) throws(FlashFault) -> (isNew: Bool, isSystem: Bool) {
    var (record, sequence, bootRecord) = state.withLock { ($0.record, $0.sequence, $0.bootRecord) }
    let pending = record.pending
    guard pending != .nothing else { return (outcome == .activated, false) }
    let isNew: Bool
    switch (pending, settings.banks) {
    case (.application, .dual): isNew = outcome == .activated
    case (.application, .single): isNew = try isWhole(bootRecord)
    case (.system, _), (.nothing, _): isNew = false
    }
    if isNew {
      record.applicationVersion = record.pendingVersion
      record.isApplicationGone = false
    } else if pending == .system {
      record.bootloaderVersion = record.pendingVersion
    }
    record.pending = .nothing
    sequence += 1
    for operation in pages.operations(storing: record.encoded, sequence: sequence) {
      try parts.flash.perform(operation)
    }
    state.withLock { ($0.record, $0.sequence) = (record, sequence) }
    return (isNew, pending == .system)
  }

  private func isWhole(_ record: BootRecord) throws(FlashFault) -> Bool {
    CRC32.checksum(try loader.image(of: record)) == record.images[record.active].crc32
  }

  private func makeBootloader(inactivity: Duration, number: Int) -> DFUProgram<SecureBootloader> {
    let (machine, name) = state.withLock { state in
      defer { state.bootloaderName = Self.defaultName }
      return (
        SecureBootloader(
          settings, inactivity: inactivity, record: state.record, sequence: state.sequence,
          bootRecord: state.bootRecord, misbehavior: state.misbehavior, parts: parts),
        state.bootloaderName
      )
    }
    if parts.settings.faults.contains(.badBlock) { parts.weakenPage(of: machine.slot) }
    return DFUProgram(
      machine, as: .secureDFU, name: name, address: bootloaderAddress,
      receiveMTU: ATTMTU(clamping: parts.settings.mtu), writesWholeWords: true,
      keep: { [self] in keep($0.misbehavior) }, with: parts,
      random: parts.random.forked(for: 1000 + UInt64(number)))
  }

  // MARK: From the programs

  /// Called when the application resets into the bootloader, which then advertises this name; `nil`
  /// = the default name.
  func enterBootloader(named name: String?) {
    state.withLock {
      $0.entersBootloader = true
      if let name { $0.bootloaderName = name }
    }
  }

  func keep(_ misbehavior: SecureMisbehavior) { state.withLock { $0.misbehavior = misbehavior } }

  /// Returns the application's firmware revision: the version in its image descriptor, otherwise
  /// the version in its init packet.
  func revision(of image: SlotImage) -> String {
    image.version == FirmwareVersion(0, 0, 0)
      ? "\(state.withLock { $0.record.applicationVersion })" : image.version.description
  }
}
