import OtaflashATT
import OtaflashFirmware
import OtaflashGATT

/// An ESP32 with two partitions for applications.
final class EspressifFirmware: BoardFirmware {
  private static let factoryBodySize = 40 * 1024

  let settings: EspressifSettings
  let parts: BoardParts
  private let loader: Bootloader
  private let state: Shared<BootRecord>

  init(_ settings: EspressifSettings, of parts: BoardParts) throws(FlashFault) {
    self.settings = settings
    self.parts = parts
    loader = Bootloader(flash: parts.flash, layout: parts.settings.layout)
    let (board, chip, name) = (parts.settings, settings.chip, parts.applicationName)
    var random = parts.factoryRandom
    let bootRecord = try loader.record {
      let size = min(Self.factoryBodySize, board.slotSize / 2)
      let bytes = EspressifImage.make(
        random.bytes(count: size), version: board.version.description, project: name, chip: chip)
      return (bytes, board.version, .any)
    }
    state = Shared(bootRecord)
  }

  var address: DeviceAddress { parts.settings.address }

  var running: SlotImage { state.withLock { $0.images[$0.active] } }

  func runningImage() throws(FlashFault) -> [UInt8] {
    try loader.image(of: try loader.newestRecord() ?? state.withLock { $0 })
  }

  // MARK: Boot

  func boot(_ number: Int) throws(FlashFault) -> Boot {
    let faults = parts.settings.faults
    let stored = try loader.newestRecord() ?? state.withLock { $0 }
    let chip = settings.chip
    let (bootRecord, outcome) = try loader.boot(stored, faults: faults, startsOnTrial: false) {
      EspressifImage($0, chip: chip) != nil
    }
    state.withLock { $0 = bootRecord }
    if faults.contains(.badBlock) {
      parts.weakenPage(of: parts.settings.layout.slot(bootRecord.inactive))
    }
    let program = EspressifProgram(
      EspressifReceiver(settings, bootRecord: bootRecord, parts: parts),
      information: try information(of: bootRecord), with: parts,
      random: parts.random.forked(for: 1000 + UInt64(number)))
    return Boot(program: program, isActivation: outcome == .activated)
  }

  private func information(of record: BootRecord) throws(FlashFault) -> LocalService? {
    guard settings.hasDeviceInformation else { return nil }
    let version = EspressifImage(try loader.image(of: record)[...], chip: settings.chip)?.version
    return .deviceInformation([
      0x2A29: "Espressif", 0x2A24: parts.applicationName, 0x2A26: version ?? "",
    ])
  }
}
