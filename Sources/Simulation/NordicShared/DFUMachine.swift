import OtaflashATT

/// The rules of a bootloader with a Control Point and a Packet characteristic, as Secure and
/// legacy DFU both have them. It knows no link and no clock.
protocol DFUMachine: Sendable {
  associatedtype FlashPurpose: Sendable

  /// Whether a new connection ends a silence.
  static var connectionBreaksSilence: Bool { get }

  /// The host is subscribed to the Control Point.
  var isNotifying: Bool { get set }
  /// What the Control Point has to notify, in order.
  var responses: [[UInt8]] { get set }
  var queue: FlashQueue<FlashPurpose> { get }
  /// What has to happen to the device.
  var request: DFURequest? { get }
  /// How long a silence may last; `nil` = for ever.
  var silenceLimit: Duration? { get }

  /// Whether a write ends a silence; asked before it is carried out.
  func breaksSilence(_ write: DFUWrite) -> Bool

  /// A write to the Control Point.
  ///
  /// - Returns: why it is refused on the level of attributes.
  mutating func controlWritten(_ bytes: [UInt8]) -> ATTErrorCode?

  /// A write to Packet.
  mutating func packetWritten(_ bytes: [UInt8])

  /// The running flash operation has ended.
  mutating func flashDone(_ isDone: Bool)

  mutating func disconnected()

  /// Nothing ended a silence for `silenceLimit`. Returns whether the device resets.
  mutating func silenceTooLong() -> Bool
}

/// A value that a host writes.
enum DFUWrite {
  case control([UInt8])
  case packet([UInt8])
}

/// What has to happen to a device in its bootloader.
enum DFURequest: Equatable, Sendable {
  case reset
  /// The image is whole and checked, and the bootloader's memory says so.
  case activate(SlotImage)
}
