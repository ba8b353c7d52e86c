import OtaflashATT
import OtaflashGATT
import Synchronization

/// The firmware of the OTA service: two slots, a boot record, and the portable receiver in each
/// boot.
final class ReceiverFirmware: BoardFirmware {
  private let kind: ReceiverSettings
  private let parts: BoardParts
  private let loader: Bootloader
  private let record: Mutex<BootRecord>
  private let misbehavior: Shared<ReceiverMisbehavior>

  init(_ kind: ReceiverSettings, of parts: BoardParts) throws(FlashFault) {
    self.kind = kind
    self.parts = parts
    let settings = parts.settings
    loader = Bootloader(flash: parts.flash, layout: settings.layout)
    record = Mutex(
      try loader.record(
        orFactory: settings.version, settings.hardware, random: parts.factoryRandom))
    misbehavior = Shared(
      ReceiverMisbehavior(plan: settings.faults, random: parts.random.forked(for: 4)))
  }

  var address: DeviceAddress { parts.settings.address }

  var running: SlotImage { record.withLock { $0.images[$0.active] } }

  func runningImage() throws(FlashFault) -> [UInt8] {
    try loader.image(of: record.withLock { $0 })
  }

  func boot(_ number: Int) throws(FlashFault) -> Boot {
    let settings = parts.settings
    let (record, outcome) = try loader.boot(
      record.withLock { $0 }, faults: settings.faults, startsOnTrial: settings.startsOnTrial)
    self.record.withLock { $0 = record }
    if outcome == .activated { misbehavior.withLock { $0.noteActivation() } }
    if settings.faults.contains(.badBlock) {
      parts.weakenPage(of: settings.layout.slot(record.inactive))
    }
    let receiver = Shared(
      ReceiverMachine(
        settings: settings, kind: kind.receiver, record: record, outcome: outcome,
        flash: parts.flash,
        random: parts.random.forked(for: 1000 + UInt64(number)),
        confirmTrial: { [weak self] in self?.confirmTrial() ?? false }))
    let program = ReceiverProgram(
      receiver, running: record.images[record.active], of: self, with: parts)
    return Boot(program: program, isActivation: outcome == .activated)
  }

  /// Marks an activated image for the bootloader.
  func markPending(_ image: SlotImage) throws(FlashFault) {
    var next = record.withLock { $0 }
    next.isPending = true
    next.images[next.inactive] = image
    let stored = try loader.storeNext(next)
    record.withLock { $0 = stored }
  }

  /// Returns the filter that alters the receiver's answers; `nil` = the profile contains no
  /// misbehavior.
  func alteration(by device: DeviceAttributes) -> (any PDUAlteration)? {
    parts.settings.faults.misbehaves
      ? ReceiverAlteration(misbehavior: misbehavior, device: device) : nil
  }

  private func confirmTrial() -> Bool {
    var next = record.withLock { $0 }
    guard next.isOnTrial else { return false }
    next.isOnTrial = false
    do throws(FlashFault) {
      let stored = try loader.storeNext(next)
      record.withLock { $0 = stored }
      return true
    } catch {
      parts.note(error)
      return false
    }
  }
}
