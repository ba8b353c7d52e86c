import OtaflashATT
import OtaflashFirmware
import OtaflashGATT

/// A device with legacy DFU: two banks, and the application or the boot loader in each boot.
final class LegacyFirmware: BoardFirmware {
  private struct State: Sendable {
    var bootRecord: BootRecord
    /// A register that outlives a reset and not a loss of power.
    var entersBootLoader = false
    var isButtonHeld: Bool
    /// A new image has been started.
    var hasActivated = false
  }

  private static let bootLoaderName = "DfuTarg"

  let settings: LegacyBootLoaderSettings
  let parts: BoardParts
  private let loader: BootLoader
  private let state: Shared<State>

  init(_ settings: LegacyBootLoaderSettings, of parts: BoardParts) throws(FlashFault) {
    self.settings = settings
    self.parts = parts
    loader = BootLoader(flash: parts.flash, layout: parts.profile.layout)
    let bootRecord = try loader.record {
      FactoryImage.make(parts.profile, random: parts.random.forked(for: 2))
    }
    state = Shared(
      State(
        bootRecord: bootRecord,
        isButtonHeld: settings.variant == .sdk11 && settings.entry == .button))
  }

  /// Where a host first finds the device: a button starts the boot loader.
  var address: DeviceAddress {
    settings.variant == .sdk11 && settings.entry == .button
      ? bootLoaderAddress : applicationAddress
  }

  private var applicationAddress: DeviceAddress { parts.profile.address }
  private var bootLoaderAddress: DeviceAddress { applicationAddress.successor }

  var running: SlotImage { state.withLock { $0.bootRecord.images[$0.bootRecord.active] } }

  func runningImage() throws(FlashFault) -> [UInt8] {
    try loader.image(of: state.withLock { $0.bootRecord })
  }

  func boot(_ number: Int) throws(FlashFault) -> Boot {
    if let bootRecord = try loader.newestRecord() {
      state.withLock { $0.bootRecord = bootRecord }
    }
    let faults = parts.profile.faults
    var (bootRecord, outcome) = try loader.boot(
      state.withLock { $0.bootRecord }, faults: faults,
      startsOnTrial: parts.profile.startsOnTrial)
    let isNew = outcome == .activated
    if isNew { state.withLock { $0.hasActivated = true } }
    if state.withLock({ $0.hasActivated }), faults.contains(.otherImage) {
      bootRecord.images[bootRecord.active].version = FirmwareVersion(0, 0, 1)
    }
    let entersBootLoader = state.withLock { [bootRecord] state in
      defer { state.entersBootLoader = false }
      state.bootRecord = bootRecord
      if isNew { state.isButtonHeld = false }
      return state.entersBootLoader || state.isButtonHeld
    }
    let image = bootRecord.images[bootRecord.active]
    let random = parts.random.forked(for: 1000 + UInt64(number))
    return Boot(
      program: makeProgram(bootRecord, entersBootLoader: entersBootLoader, image, random),
      isActivation: isNew,
      flashTime: isNew ? loader.exchangeTime(image, movesPerPage: 1) : .zero)
  }

  private func makeProgram(
    _ bootRecord: BootRecord, entersBootLoader: Bool, _ image: SlotImage, _ random: SeededRandom
  ) -> any BoardProgram {
    let machine = LegacyBootLoader(settings, bootRecord: bootRecord, parts: parts)
    if parts.profile.faults.contains(.badBlock) {
      parts.weakenPage(of: parts.profile.layout.slot(bootRecord.inactive))
    }
    switch (settings.variant, entersBootLoader) {
    case (.infinitime, _):
      return LegacyProgram(
        machine, name: parts.profile.applicationName, address: applicationAddress,
        information: information(of: image), random: random)
    case (.sdk11, true):
      return LegacyProgram(
        machine, name: Self.bootLoaderName, address: bootLoaderAddress, information: nil,
        random: random)
    case (.sdk11, false):
      return LegacyApplication(
        of: self, information: information(of: image), at: applicationAddress)
    }
  }

  private func information(of image: SlotImage) -> LocalService? {
    guard settings.hasDeviceInformation else { return nil }
    return .deviceInformation([
      0x2A29: settings.variant == .infinitime ? "PINE64" : "Nordic Semiconductor",
      0x2A26: image.version.description,
    ])
  }

  /// The application resets into the boot loader.
  func enterBootLoader() { state.withLock { $0.entersBootLoader = true } }
}
