import OtaflashFirmware
import OtaflashGATT

/// A chip with TI's OAD: the application stores an image in the slot that does not run, and the
/// bootloader copies or exchanges the image after a restart.
final class OADFirmware: BoardFirmware {
  private struct State: Sendable {
    var bootRecord: BootRecord
    /// Whether a new image has been started.
    var hasActivated = false
  }

  private static let sampleHeaders = 256

  let settings: OADServerSettings
  private let parts: BoardParts
  private let loader: Bootloader
  private let state: Shared<State>

  init(_ settings: OADServerSettings, of parts: BoardParts) throws(FlashFault) {
    self.settings = settings
    self.parts = parts
    loader = Bootloader(flash: parts.flash, layout: parts.settings.layout)
    let record = try loader.record {
      var factory = FactoryImage.make(parts.settings, random: parts.factoryRandom)
      let room = parts.settings.slotSize - Self.sampleHeaders
      factory.bytes = OADSample.image(
        Array(factory.bytes.prefix(room)), version: parts.settings.version, settings)
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
    let (record, outcome) = try loader.boot(
      before, faults: parts.settings.faults, startsOnTrial: false,
      isGood: { OADSample.isGood(Array($0), self.settings.generation) })
    let isNew = outcome == .activated
    let isOther = state.withLock { state in
      state.bootRecord = record
      if isNew { state.hasActivated = true }
      return state.hasActivated && parts.settings.faults.contains(.otherImage)
    }
    if parts.settings.faults.contains(.badBlock) {
      parts.weakenPage(of: parts.settings.layout.slot(record.inactive))
    }
    var image = try loader.image(of: record)
    if isOther { image = OADSample.image([], version: FirmwareVersion(0, 0, 1), settings) }
    let program = OADProgram(
      OADServer(
        settings, bootRecord: record,
        version: OADSample.reported(of: image, settings.generation), parts: parts),
      information: information(of: image), with: parts,
      random: parts.random.forked(for: 1000 + UInt64(number)))
    let moved = isNew ? loader.exchangeTime(record.images[record.active], movesPerPage: 1) : .zero
    return Boot(program: program, isActivation: isNew, flashTime: moved)
  }

  private func information(of image: [UInt8]) -> LocalService? {
    guard settings.hasDeviceInformation else { return nil }
    let version = OADSample.version(of: image, settings.generation)
    return .deviceInformation([0x2A29: "Texas Instruments", 0x2A26: version.description])
  }
}
