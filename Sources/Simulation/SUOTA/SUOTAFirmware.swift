import OtaflashFirmware
import OtaflashGATT

/// A chip with two image banks, and a bootloader that starts a valid image whose CRC32 matches.
final class SUOTAFirmware: BoardFirmware {
  /// The time of the build of the factory image, 2023-11-14T22:13:20Z.
  private static let factoryTime: UInt32 = 1_700_000_000

  private struct State: Sendable {
    var bootRecord: BootRecord
    /// Whether a new image has been started.
    var hasActivated = false
  }

  let settings: SUOTASettings
  private let parts: BoardParts
  private let loader: Bootloader
  private let state: Shared<State>

  init(_ settings: SUOTASettings, of parts: BoardParts) throws(FlashFault) {
    self.settings = settings
    self.parts = parts
    loader = Bootloader(flash: parts.flash, layout: parts.settings.layout)
    let record = try loader.record {
      var factory = FactoryImage.make(parts.settings, random: parts.factoryRandom)
      // The header needs 1 KiB or less.
      factory.bytes = SUOTASample.image(
        Array(factory.bytes.prefix(parts.settings.slotSize - 1024)), for: settings.chip,
        version: factory.version.description, timestamp: Self.factoryTime)
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
      isGood: { [chip = settings.chip] image in
        SUOTAHeader(Array(image.prefix(SUOTAHeader.size(of: chip))), of: chip)?.matches(image)
          ?? false
      })
    let isNew = outcome == .activated
    if isNew { state.withLock { $0.hasActivated = true } }
    if state.withLock({ $0.hasActivated }), parts.settings.faults.contains(.otherImage) {
      record.images[record.active].version = FirmwareVersion(0, 0, 1)
    }
    state.withLock { [record] in $0.bootRecord = record }
    if parts.settings.faults.contains(.badBlock) {
      parts.weakenPage(of: parts.settings.layout.slot(record.inactive))
    }
    let program = SUOTAProgram(
      SUOTAServer(settings, bootRecord: record, parts: parts),
      information: information(of: record.images[record.active]), with: parts,
      random: parts.random.forked(for: 1000 + UInt64(number)))
    return Boot(program: program, isActivation: isNew)
  }

  /// Returns the Device Information Service, if the application has this service. The Firmware
  /// Revision is the version of the SDK, as in the examples of the SDKs.
  private func information(of image: SlotImage) -> LocalService? {
    guard settings.hasDeviceInformation else { return nil }
    return .deviceInformation([
      0x2A29: "Renesas", 0x2A26: "6.0.18.1182", 0x2A28: image.version.description,
    ])
  }
}
