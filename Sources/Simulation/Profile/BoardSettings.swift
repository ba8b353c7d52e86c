import OtaflashFirmware
import OtaflashGATT

/// What any simulated device can be set to, whatever its kind.
public struct BoardSettings: Hashable, Sendable {
  /// How the host learns that the device resets.
  public enum LinkDrop: String, CaseIterable, Sendable {
    /// The device falls silent, the host notices after the supervision timeout.
    case timeout
    /// The device ends the connection first.
    case close
  }

  /// How long the device keeps its address (Core 5.4, Vol 6, Part B, 1.3.2.1).
  public enum Addressing: String, CaseIterable, Sendable {
    /// As long as it exists.
    case `static`
    /// From one start to the next, when it draws another one.
    case random
  }

  /// What a link must offer before the device takes an update over it.
  public enum Security: String, CaseIterable, Sendable {
    /// None.
    case none
    /// Paired, in whatever way.
    case encrypted
    /// Paired with a passkey.
    case authenticated

    var needed: AttributeSecurity {
      switch self {
      case .none: []
      case .encrypted: .encryption
      case .authenticated: [.encryption, .authentication]
      }
    }
  }

  /// What the application calls itself, in its advertisement and as its Device Name (Core 5.4, Vol
  /// 3, Part C, 12.1); `nil` = what its kind does. Bootloaders keep their own name.
  public var givenName: String?
  /// Draws every chance of the board: the same seed, the same run.
  public var seed: UInt64 = 1
  /// Draws the image that it leaves the factory with, which boards of one batch have in common;
  /// `nil` = it has one of its own.
  package var factorySeed: UInt64?
  /// The radio of its connections.
  public var radio = RadioModel()
  /// The largest ATT_MTU that the device agrees to, 23…517.
  public var mtu = 517
  /// The time to erase one page of 4 KiB.
  public var eraseTime: Duration = .milliseconds(85)
  /// The time to write 4 KiB.
  public var writeTimePer4KiB: Duration = .milliseconds(40)
  /// The receive buffer, in bytes: a multiple of `rowSize`.
  public var ringSize = 8192
  /// Bytes that are programmed at a time.
  public var rowSize = 1024
  /// In bytes, a multiple of 4 KiB.
  public var slotSize = 512 * 1024
  /// What runs before the first update.
  public var version = FirmwareVersion(1, 2, 0)
  /// The board's own id.
  public var hardware = HardwareID(0x0000_A001)
  /// The key of the authorization; `nil` = the device wants none.
  public var key: [UInt8]?
  /// From a reset to the first advertisement.
  public var bootTime: Duration = .milliseconds(300)
  /// New images run on trial until they are confirmed.
  public var startsOnTrial = false
  /// How a host notices that the board has restarted.
  public var linkDrop = LinkDrop.timeout
  /// What a link must offer for an update.
  public var security = Security.none
  /// In percent, 0…100; `nil` = the application has no Battery Service.
  public var batteryLevel: Int?
  /// Whether the device draws another address at each start.
  public var addressing = Addressing.static
  /// What goes wrong with it.
  package var faults = FaultPlan()

  /// As the plain device has them.
  public init() {}
}
