import OtaflashATT

/// The rules of a boot loader with a Control Point and a Packet characteristic, as Secure and legacy
/// DFU both have them. It knows no link and no clock.
protocol DFUMachine: Sendable {
  associatedtype FlashPurpose: Sendable

  /// Whether a write to Packet ends a silence as one to the Control Point does.
  static var packetsBreakSilence: Bool { get }

  /// The host is subscribed to the Control Point.
  var isNotifying: Bool { get set }
  /// What the Control Point has to notify, in order.
  var responses: [[UInt8]] { get set }
  var queue: FlashQueue<FlashPurpose> { get }
  /// What has to happen to the device.
  var request: DFURequest? { get }
  /// How long the host may write nothing; `nil` = as long as it likes.
  var silenceLimit: Duration? { get }

  /// A write to the Control Point.
  ///
  /// - Returns: why it is refused on the level of attributes.
  mutating func controlWritten(_ bytes: [UInt8]) -> ATTErrorCode?

  /// A write to Packet.
  mutating func packetWritten(_ bytes: [UInt8])

  /// The running flash operation has ended.
  mutating func flashDone(_ isDone: Bool)

  mutating func disconnected()

  /// The host wrote nothing for `silenceLimit`. Returns whether the device resets.
  mutating func silenceTooLong() -> Bool
}

/// What has to happen to a device in its boot loader.
enum DFURequest: Equatable, Sendable {
  case reset
  /// The image is whole and checked, and the boot loader's memory says so.
  case activate(SlotImage)
}
