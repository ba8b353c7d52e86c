import OtaflashFirmware
import OtaflashGATT

/// A Telink chip: two regions of flash, and a boot ROM that starts the region with the mark. The
/// application erases the other region at each boot, before it advertises.
final class TelinkFirmware: BoardFirmware {
  private struct State: Sendable {
    var bootRecord: BootRecord
    /// Whether a new image has been started.
    var hasActivated = false
  }

  let settings: TelinkServerSettings
  private let parts: BoardParts
  private let loader: Bootloader
  private let state: Shared<State>

  init(_ settings: TelinkServerSettings, of parts: BoardParts) throws(FlashFault) {
    self.settings = settings
    self.parts = parts
    loader = Bootloader(flash: parts.flash, layout: parts.settings.layout)
    let record = try loader.record {
      var factory = FactoryImage.make(parts.settings, random: parts.factoryRandom)
      let room = parts.settings.slotSize - TelinkImage.granularity
      factory.bytes = TelinkSample.image(Array(factory.bytes.prefix(room)))
      return factory
    }
    state = Shared(State(bootRecord: record))
  }

  var address: DeviceAddress { parts.settings.address }

  var running: SlotImage { state.withLock { $0.bootRecord.images[$0.bootRecord.active] } }

  func runningImage() throws(FlashFault) -> [UInt8] {
    try loader.image(of: try loader.newestRecord() ?? state.withLock { $0.bootRecord })
  }

  func boot(_ number: Int) throws(FlashFault) -> Boot {
    let before = try loader.newestRecord() ?? state.withLock { $0.bootRecord }
    var (record, outcome) = try loader.boot(
      before, faults: parts.settings.faults, startsOnTrial: false,
      isGood: { TelinkImage.begins(Array($0.prefix(TelinkImage.headerSize))) })
    let erased = try eraseSlot(record.inactive)
    let isNew = outcome == .activated
    if isNew { state.withLock { $0.hasActivated = true } }
    if state.withLock({ $0.hasActivated }), parts.settings.faults.contains(.otherImage) {
      record.images[record.active].version = FirmwareVersion(0, 0, 1)
    }
    state.withLock { [record] in $0.bootRecord = record }
    if parts.settings.faults.contains(.badBlock) {
      parts.weakenPage(of: parts.settings.layout.slot(record.inactive))
    }
    let program = TelinkProgram(
      TelinkServer(settings, bootRecord: record, parts: parts),
      information: information(of: record.images[record.active]), with: parts,
      random: parts.random.forked(for: 1000 + UInt64(number)))
    return Boot(
      program: program, isActivation: isNew, flashTime: parts.settings.eraseTime * erased)
  }

  /// Erases a slot; returns the number of pages that were not empty, for which the chip needs time.
  private func eraseSlot(_ index: Int) throws(FlashFault) -> Int {
    let layout = parts.settings.layout
    let start = layout.slot(index)
    var count = 0
    for page in stride(from: start, to: start + layout.slotSize, by: layout.pageSize) {
      let bytes = try parts.flash.read(page..<page + layout.pageSize)
      try parts.flash.perform(.erase(page: page))
      if bytes.contains(where: { $0 != 0xFF }) { count += 1 }
    }
    return count
  }

  private func information(of image: SlotImage) -> LocalService? {
    guard settings.hasDeviceInformation else { return nil }
    return .deviceInformation([0x2A29: "Telink", 0x2A26: image.version.description])
  }
}
