import OtaflashATT
import OtaflashGATT

/// The state that the tasks of a board share: its phase and its counters.
struct BoardState: Sendable {
  enum Phase: Sendable {
    /// The board has no power, is in reset, or boots.
    case off
    case advertising
    case connected(any BoardConnection)
    /// The board is off permanently.
    case gone
  }

  var phase = Phase.off
  /// The advertisement of the running program; `nil` before the first boot.
  var advertisement: Advertisement?
  /// A connection that the firmware has not accepted yet.
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
  /// The address of the last connection, for a device that draws a new address at each start.
  var knownAddress: DeviceAddress?
  /// The number of PDUs of earlier connections.
  var pdusBefore = 0

  mutating func takeOffered() -> (any BoardConnection)? {
    defer { offered = nil }
    return offered
  }

  mutating func takePowerCut() -> Bool {
    defer { isPowerCut = false }
    return isPowerCut
  }

  /// Handles the end of a connection: the board advertises, unless it was reset in the meantime.
  mutating func disconnected(from connection: any BoardConnection) {
    pdusBefore += connection.pdusDelivered
    guard case .connected(let current) = phase, current === connection else { return }
    phase = .advertising
  }

  /// Records that the program has ended: counts a reset, and withdraws a connection that was not
  /// accepted. Returns the current connection for the caller to end; `nil` = no connection.
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

/// The counters of a board, for tests.
public struct BoardCounters: Hashable, Sendable {
  /// PDUs that crossed the board's stack, in both directions together.
  public var pdus = 0
  /// Data writes that the board received, including repeated writes.
  public var dataWrites = 0
  /// Bytes of the image in these data writes, including repeated bytes.
  public var dataBytes = 0
  /// Connections of hosts.
  public var connections = 0
  /// Restarts for any reason.
  public var resets = 0
  /// Flash operations of the program.
  public var flashOperations = 0
  /// Flash operations by kind.
  public var flash = SimulatedFlash.Counts()
}
