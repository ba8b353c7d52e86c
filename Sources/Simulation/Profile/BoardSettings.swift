import OtaflashFirmware
import OtaflashGATT

/// The settings that simulated devices of all kinds share.
public struct BoardSettings: Hashable, Sendable {
  /// The way in which the host detects a reset of the device.
  public enum LinkDrop: String, CaseIterable, Sendable {
    /// The device stops sending; the host detects the loss after the supervision timeout.
    case timeout
    /// The device ends the connection first.
    case close
  }

  /// The time for which the device keeps its address (Core 5.4, Vol 6, Part B, 1.3.2.1).
  public enum Addressing: String, CaseIterable, Sendable {
    /// The address never changes.
    case `static`
    /// Each start draws a new address.
    case random
  }

  /// The security that a link needs before the device accepts an update over it.
  public enum Security: String, CaseIterable, Sendable {
    /// No security is required.
    case none
    /// The link is paired by any method.
    case encrypted
    /// The link is paired with a passkey.
    case authenticated

    var needed: AttributeSecurity {
      switch self {
      case .none: []
      case .encrypted: .encryption
      case .authenticated: [.encryption, .authentication]
      }
    }
  }

  /// The name of the application, in its advertisement and as its Device Name (Core 5.4, Vol 3,
  /// Part C, 12.1); `nil` = the default of the kind. Bootloaders keep their own name.
  public var givenName: String?
  /// The seed of all randomness of the board: the same seed repeats the same run.
  public var seed: UInt64 = 1
  /// The seed of the factory image, which boards of one batch share; `nil` = each board has a
  /// different factory image.
  package var factorySeed: UInt64?
  /// The radio of the connections of the board.
  public var radio = RadioModel()
  /// The largest ATT_MTU that the device agrees to, 23…517.
  public var mtu = 517
  /// The time to erase one page.
  public var eraseTime: Duration = .milliseconds(85)
  /// The time to write 4 KiB.
  public var writeTimePer4KiB: Duration = .milliseconds(40)
  /// The size of the receive buffer in bytes: a multiple of `rowSize`.
  public var ringSize = 8192
  /// The number of bytes that the device programs in one operation.
  public var rowSize = 1024
  /// The size of a slot in bytes, a multiple of 4 KiB.
  public var slotSize = 512 * 1024
  /// The version of the factory image.
  public var version = FirmwareVersion(1, 2, 0)
  /// The board's own hardware id.
  public var hardware = HardwareID(0x0000_A001)
  /// The authorization key; `nil` = the device requires no authorization.
  public var key: [UInt8]?
  /// The time from a reset to the first advertisement, without the bootloader's flash operations.
  public var bootTime: Duration = .milliseconds(300)
  /// Whether new images run on trial until the host confirms them.
  public var startsOnTrial = false
  /// The way in which the host detects a restart of the board.
  public var linkDrop = LinkDrop.timeout
  /// The security that an update requires.
  public var security = Security.none
  /// The battery level in percent, 0…100; `nil` = the application has no Battery Service.
  public var batteryLevel: Int?
  /// The interval of the log lines of the application over the Nordic UART Service; `nil` = the
  /// application has no such service.
  package var logInterval: Duration?
  /// The time for which the device keeps its address.
  public var addressing = Addressing.static
  /// The faults of the device.
  package var faults = FaultPlan()

  /// Creates the default settings.
  public init() {}
}
