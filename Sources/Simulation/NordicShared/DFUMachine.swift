import OtaflashATT

/// The rules of a bootloader with a Control Point and a Packet characteristic, as in Secure and
/// legacy DFU. Conforming types are independent of link and clock.
protocol DFUMachine: Sendable {
  associatedtype FlashPurpose: Sendable

  /// Whether a new connection restarts the inactivity timer.
  static var connectionBreaksSilence: Bool { get }

  /// Whether the host is subscribed to the Control Point.
  var isNotifying: Bool { get set }
  /// The pending notifications of the Control Point, in order.
  var responses: [[UInt8]] { get set }
  var queue: FlashQueue<FlashPurpose> { get }
  /// The pending request of the machine to the device.
  var request: DFURequest? { get }
  /// The inactivity timeout; `nil` = no timeout.
  var silenceLimit: Duration? { get }

  /// Returns whether a write restarts the inactivity timer; called before the write is handled.
  func breaksSilence(_ write: DFUWrite) -> Bool

  /// Handles a write to the Control Point.
  ///
  /// - Returns: the ATT error code of the write, if it is rejected.
  mutating func controlWritten(_ bytes: [UInt8]) -> ATTErrorCode?

  /// Handles a write to the Packet characteristic.
  mutating func packetWritten(_ bytes: [UInt8])

  /// Handles the end of the running flash operation.
  mutating func flashDone(_ isDone: Bool)

  mutating func disconnected()

  /// Handles the end of the inactivity timeout. Returns whether the device resets.
  mutating func silenceTooLong() -> Bool
}

/// A write of the host.
enum DFUWrite {
  case control([UInt8])
  case packet([UInt8])
}

/// A request of the bootloader to its device.
enum DFURequest: Equatable, Sendable {
  case reset
  /// The image is complete and verified, and this is recorded in the bootloader's settings.
  case activate(SlotImage)
}
