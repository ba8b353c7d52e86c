import OtaflashATT
import OtaflashGATT

/// What a board's tasks share: whether it can be heard, and what has happened to it.
struct BoardState: Sendable {
  enum Phase: Sendable {
    /// Without power, in reset or booting.
    case off
    case advertising
    case connected(any BoardConnection)
    /// Never to be heard of again.
    case gone
  }

  var phase = Phase.off
  /// What the running program advertises; `nil` before the first boot.
  var advertisement: Advertisement?
  /// A connection that the firmware has not taken up yet.
  var offered: (any BoardConnection)?
  var connections = 0
  var resets = 0
  var flashOperations = 0
  var flashFaults: [FlashFault] = []
  var firstConnection: LinkInstant?
  var isCutDone = false
  var isPowerCut = false
  var isAdapterGone = false
  var hasNewAddress = false
  /// Where a host last connected to a device that draws another address at each start.
  var knownAddress: DeviceAddress?
  /// PDUs that earlier connections have carried.
  var pdusBefore = 0

  mutating func takeOffered() -> (any BoardConnection)? {
    defer { offered = nil }
    return offered
  }

  mutating func takePowerCut() -> Bool {
    defer { isPowerCut = false }
    return isPowerCut
  }

  /// The link is over: the board advertises, unless it has been reset meanwhile.
  mutating func disconnected(from connection: any BoardConnection) {
    pdusBefore += connection.pdusDelivered
    guard case .connected(let current) = phase, current === connection else { return }
    phase = .advertising
  }

  /// Ends the current connection's place and says which it was.
  mutating func switchOff() -> (any BoardConnection)? {
    defer {
      phase = .off
      offered = nil
      resets += 1
    }
    guard case .connected(let connection) = phase else { return nil }
    return connection
  }
}

/// What a test may ask of a board.
public struct BoardCounters: Hashable, Sendable {
  /// PDUs that crossed the board's stack, both directions together.
  public var pdus = 0
  /// Data writes that reached the board, and the bytes of image in them, repeats included.
  public var dataWrites = 0
  /// Bytes of image in them, those that are sent again included.
  public var dataBytes = 0
  /// Connections that a host has made.
  public var connections = 0
  /// Restarts, whatever their cause.
  public var resets = 0
  /// Operations that the program has asked of the flash.
  public var flashOperations = 0
  /// Operations of the flash, by their kind.
  public var flash = SimulatedFlash.Counts()
}
