import OtaflashATT
import OtaflashFirmware

/// The settings of a micro:bit or a Calliope mini.
public struct MicrobitSettings: Hashable, Sendable {
  /// The editor that has created the factory program and the sample programs.
  public enum Editor: String, CaseIterable, Sendable {
    /// Microsoft MakeCode.
    case makecode
    /// MicroPython.
    case python
  }

  /// The runtime of the device, relative to the runtime of the sample programs.
  public enum Runtime: String, CaseIterable, Sendable {
    /// The device runs the runtime of the sample programs, so they can be sent as a part.
    case same
    /// The device runs another runtime.
    case other
  }

  /// The generation of the board.
  public var board = MicrobitBoard.v2
  /// The editor of the factory program.
  public var editor = Editor.makecode
  /// The runtime in flash.
  public var runtime = Runtime.same
  /// Whether the programs use Bluetooth. If not, a user has put the device into pairing mode, and
  /// the device does not advertise after the update.
  public var usesBluetooth = true
  /// Whether the device restarts after a transfer only on request, as a Calliope mini 3 does.
  public var waitsForRestart = false
  /// The time after which pairing mode ends.
  public var pairingLimit = Duration.seconds(270)

  /// Creates the settings of a micro:bit V2 with a program of MakeCode.
  public init() {}

  private init(board: MicrobitBoard) { self.board = board }

  private init(waitsForRestart: Bool) { self.waitsForRestart = waitsForRestart }
}

extension MicrobitSettings: KindSettings {
  static let presets = [
    ProfilePreset(
      name: "microbit", summary: "a micro:bit V2 with a program of MakeCode",
      device: .microbit(MicrobitSettings())
    ) { $0.becomeMicrobit(.v2) },
    ProfilePreset(
      name: "microbit-v1", summary: "a micro:bit V1 with a program of MakeCode",
      device: .microbit(MicrobitSettings(board: .v1))
    ) { $0.becomeMicrobit(.v1) },
    ProfilePreset(
      name: "calliope", summary: "a Calliope mini 3 with a program of MakeCode",
      device: .microbit(MicrobitSettings(waitsForRestart: true))
    ) { $0.becomeMicrobit(.v2) },
  ]

  static let keys: [KindKey<Self>] = [
    KindKey("editor", "the editor of the programs", \.editor),
    KindKey("runtime", "the runtime in flash", \.runtime),
    KindKey("bluetooth", "the programs use Bluetooth", \.usesBluetooth),
    KindKey("waits", "the device restarts only on request", \.waitsForRestart),
    KindKey("pairing", "the time limit of pairing mode", "a time such as 270s", \.pairingLimit) {
      Quantity.duration($0)
    },
  ]

  static let foreignKeys: Set<ProfileKey> = [
    .ring, .hardware, .key, .trial, .log, .version, .battery,
  ]

  /// A micro:bit neither reads its flash back nor reverts a program.
  static let faults = Fault.ofAnyDevice.subtracting([.badBlock, .comesBackOld, .reverts])
    .union([.otherImage, .nonsense])

  var service: BluetoothUUID { MicrobitUUID.service }

  var applicationName: String { "BBC micro:bit" }

  var dataPages: Int { 1 }

  var flashPageSize: Int { board.pageSize }

  func makeFirmware(of parts: BoardParts) throws(FlashFault) -> any BoardFirmware {
    try MicrobitFirmware(self, of: parts)
  }
}

extension BoardSettings {
  /// Sets the parameters of an nRF51822 or an nRF52833: a reset ends the link without a termination
  /// PDU.
  fileprivate mutating func becomeMicrobit(_ board: MicrobitBoard) {
    slotSize = board.applicationArea.count
    linkDrop = .timeout
    switch board {
    case .v1:
      mtu = 23
      eraseTime = .milliseconds(22)
      writeTimePer4KiB = .milliseconds(47)
    case .v2: mtu = 247
    }
  }
}

extension DeviceKind {
  /// Returns a micro:bit or a Calliope mini.
  public static func microbit(_ settings: MicrobitSettings) -> DeviceKind { DeviceKind(settings) }
}
