import OtaflashFirmware
import OtaflashGATT

/// A micro:bit: a program in flash, which runs after a reset unless the device enters pairing mode
/// or its bootloader.
final class MicrobitFirmware: BoardFirmware {
  private static let factoryScriptSize = 8 * 1024
  /// The time from the end of the link to the start of V1's bootloader.
  private static let pauseOfV1 = Duration.seconds(1)

  private struct State: Sendable {
    var bootRecord: BootRecord
    /// Whether the device's storage contains the key `RebootMode`, so that the next boot enters
    /// pairing mode.
    var restartsIntoPairing = false
  }

  private enum BoardBootloader {
    case v1(LegacyFirmware)
    case v2(SecureFirmware)
  }

  let settings: MicrobitSettings
  private let parts: BoardParts
  private let loader: Bootloader
  private let bootloader: BoardBootloader
  private let state: Shared<State>

  init(_ settings: MicrobitSettings, of parts: BoardParts) throws(FlashFault) {
    self.settings = settings
    self.parts = parts
    loader = Bootloader(flash: parts.flash, layout: parts.settings.layout)
    let record = try loader.record {
      var random = parts.factoryRandom
      let size = min(Self.factoryScriptSize, parts.settings.slotSize / 16)
      let application = MicrobitSample(settings).application(random.bytes(count: size))
      return (Array(application.prefix(parts.settings.slotSize)), .unknown, .any)
    }
    state = Shared(State(bootRecord: record))
    bootloader =
      switch settings.board {
      case .v1: .v1(try LegacyFirmware(.microbit, of: parts))
      case .v2: .v2(try SecureFirmware(.microbit, of: parts))
      }
  }

  var address: DeviceAddress { parts.settings.address }

  var running: SlotImage {
    switch bootloader {
    case .v1(let legacy): legacy.running
    case .v2(let secure): secure.running
    }
  }

  /// Returns the program in flash; empty while a script is incomplete, so that it cannot run.
  func runningImage() throws(FlashFault) -> [UInt8] {
    guard try !isIncomplete() else { return [] }
    if case .v1(let legacy) = bootloader { return try legacy.runningImage() }
    return try loader.image(of: try loader.newestRecord() ?? state.withLock { $0.bootRecord })
  }

  /// Whether a transfer has started and not ended.
  private func isIncomplete() throws(FlashFault) -> Bool {
    let mark = MicrobitMachine.markPage(of: parts.settings)
    return try parts.flash.read(mark..<mark + 4).contains { $0 != 0xFF }
  }

  // MARK: Boot

  func boot(_ number: Int) throws(FlashFault) -> Boot {
    let before = state.withLock { $0.bootRecord }
    let booted: Boot
    let pause: Duration
    switch bootloader {
    case .v1(let legacy): (booted, pause) = (try legacy.boot(number), Self.pauseOfV1)
    case .v2(let secure): (booted, pause) = (try secure.boot(number), .zero)
    }
    let record = try loader.newestRecord() ?? before
    let restartsIntoPairing = state.withLock { state in
      defer { state.restartsIntoPairing = false }
      state.bootRecord = record
      return state.restartsIntoPairing
    }
    if booted.program is DFUProgram<SecureBootloader>
      || booted.program is DFUProgram<LegacyBootloader>
    {
      return Boot(
        program: booted.program, isActivation: booted.isActivation,
        flashTime: booted.flashTime + pause)
    }
    let isIncomplete = try isIncomplete()
    // A user starts pairing mode with the buttons, because the program does not use Bluetooth.
    let isByButtons = !settings.usesBluetooth && number == 0
    let isPairing = isIncomplete || restartsIntoPairing || isByButtons
    let machine = MicrobitMachine(
      settings, bootRecord: record, isPairing: isPairing, isIncomplete: isIncomplete, parts: parts)
    let program = MicrobitBoardProgram(
      machine, isSilent: !isPairing && !settings.usesBluetooth,
      keep: { [self] in keep($0) }, with: parts,
      random: parts.random.forked(for: 1000 + UInt64(number)))
    return Boot(
      program: program, isActivation: record != before, flashTime: booted.flashTime)
  }

  private func keep(_ next: MicrobitBoardProgram.Ending) {
    switch next {
    case .program: break
    case .pairing: state.withLock { $0.restartsIntoPairing = true }
    case .bootloader:
      switch bootloader {
      case .v1(let legacy): legacy.enterBootloader()
      case .v2(let secure): secure.enterBootloader(named: nil)
      }
    }
  }
}

extension SecureBootloaderSettings {
  /// The bootloader of a micro:bit V2, which requires a bond and no signature.
  fileprivate static var microbit: SecureBootloaderSettings {
    var settings = SecureBootloaderSettings()
    settings.entry = .bonded
    settings.verification = .none
    settings.isMicrobit = true
    return settings
  }
}

extension LegacyBootloaderSettings {
  /// The bootloader of a micro:bit V1, with one bank.
  fileprivate static var microbit: LegacyBootloaderSettings {
    var settings = LegacyBootloaderSettings()
    settings.isMicrobit = true
    return settings
  }
}
