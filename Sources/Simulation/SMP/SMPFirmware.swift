import OtaflashATT
import OtaflashFirmware
import OtaflashGATT

/// A Zephyr device with MCUboot: two slots, what the boot loader decided on them, and the SMP server
/// of the application or of the boot loader in each boot.
final class SMPFirmware: BoardFirmware {
  private struct State: Sendable {
    var record: BootRecord
    /// A register that outlives a reset and not a loss of power.
    var entersRecovery = false
    var lies: SMPLies
  }

  let settings: SMPServerSettings
  let parts: BoardParts
  private let loader: BootLoader
  private let state: Shared<State>

  init(_ settings: SMPServerSettings, of parts: BoardParts) throws(FlashFault) {
    self.settings = settings
    self.parts = parts
    loader = BootLoader(flash: parts.flash, layout: parts.profile.layout)
    let record = try loader.record {
      let profile = parts.profile
      var random = parts.random.forked(for: 2)
      let size = min(BootLoader.factoryImageSize, profile.slotSize / 2)
      let version = profile.version
      let bytes = BootableImage.assemble(
        version: BootableImage.Version(
          major: version.major, minor: version.minor, revision: version.patch),
        body: random.bytes(count: size))
      return (bytes, version, profile.hardware)
    }
    state = Shared(State(record: record, lies: SMPLies(plan: parts.profile.faults)))
  }

  var address: DeviceAddress { parts.profile.address }

  var running: SlotImage { state.withLock { $0.record.images[$0.record.active] } }

  func runningImage() throws(FlashFault) -> [UInt8] {
    let record = state.withLock { $0.record }
    let image = try described(slot: record.active)
    let start = parts.profile.layout.slot(record.active)
    return try parts.flash.read(start..<start + Int(image.size))
  }

  // MARK: Boot

  func boot(_ number: Int) throws(FlashFault) -> Boot {
    var record = try loader.newestRecord() ?? state.withLock { $0.record }
    record.images = [try described(slot: 0), try described(slot: 1)]
    let old = record.active
    let wasOnTrial = record.isOnTrial && !record.isPending
    let outcome: BootLoader.Outcome
    if settings.mode.choosesByVersion {
      outcome = try chooseByVersion(&record)
    } else {
      (record, outcome) = try decide(record)
    }
    if outcome == .activated, parts.profile.faults.contains(.otherImage) {
      record.images[record.active].version = FirmwareVersion(0, 0, 1)
    }
    let image = record.images[record.active]
    let entersRecovery = state.withLock { [record] state in
      defer { state.entersRecovery = false }
      state.record = record
      return settings.mode.needsRecovery && (state.entersRecovery || image.size == 0)
    }
    let lies = state.withLock { $0.lies }
    let machine = SMPServer(
      settings, record: record, isRecovery: entersRecovery, lies: lies, parts: parts)
    if parts.profile.faults.contains(.badBlock) {
      parts.weakenPage(
        of: parts.profile.layout.slot(entersRecovery ? record.active : record.inactive))
    }
    let program = SMPProgram(
      machine, of: self, runs: image, random: parts.random.forked(for: 1000 + UInt64(number)))
    let isMoved = outcome == .activated || wasOnTrial && record.active != old
    return Boot(
      program: program, isActivation: outcome == .activated,
      flashTime: isMoved
        ? loader.exchangeTime(image, movesPerPage: settings.mode.movesPerPage) : .zero)
  }

  /// What lies in a slot, if MCUboot would start it; else nothing.
  private func described(slot: Int) throws(FlashFault) -> SlotImage {
    let start = parts.profile.layout.slot(slot)
    let bytes = try parts.flash.read(start..<start + parts.profile.slotSize)
    guard let image = BootableImage(decoding: bytes[...]), BootableImage.isSound(bytes[...]) else {
      return SlotImage()
    }
    let version = image.version
    return SlotImage(
      size: UInt32(image.fileOctets), crc32: CRC32.checksum(bytes[..<image.fileOctets]),
      version: FirmwareVersion(version.major, version.minor, version.revision),
      hardware: parts.profile.hardware)
  }

  private func decide(
    _ record: BootRecord
  ) throws(FlashFault) -> (BootRecord, BootLoader.Outcome) {
    var record = record
    if record.isPending, settings.forbidsDowngrade,
      record.images[record.inactive].version < record.images[record.active].version
    {
      record.images[record.inactive] = SlotImage()
    }
    let needsConfirmation = settings.mode.reverts && !record.isPermanent
    return try loader.boot(
      record, faults: parts.profile.faults, startsOnTrial: needsConfirmation)
  }

  /// The slot with the higher version runs; of two with the same, the first.
  private func chooseByVersion(
    _ record: inout BootRecord
  ) throws(FlashFault) -> BootLoader.Outcome {
    let other = record.images[record.inactive]
    let current = record.images[record.active]
    guard other.size > 0, current.size == 0 || other.version > current.version else {
      return .normal
    }
    let faults = parts.profile.faults
    guard !faults.contains(.reverts), !faults.contains(.comesBackOld) else { return .normal }
    record.active = record.inactive
    record = try loader.storeNext(record)
    return .activated
  }

  // MARK: From the programs

  /// The next boot shall be the boot loader's own server.
  func enterRecovery() { state.withLock { $0.entersRecovery = true } }

  func keep(_ lies: SMPLies) { state.withLock { $0.lies = lies } }
}
