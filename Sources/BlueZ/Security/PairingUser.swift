import OtaflashATT

/// Who answers the questions of a pairing: a person at a terminal, or a rule.
public struct PairingUser: Sendable {
  /// What a device asks of the person, or shows.
  public enum Question: Equatable, Sendable {
    /// Whether to pair with the device at all; nothing proves that it is the right one.
    case consent(BluetoothAddress)
    /// Whether the device shows the same six digits.
    case comparison(BluetoothAddress, UInt32)
  }

  /// What the person can do, as the other side is told.
  public let capability: IOCapability
  let confirm: @Sendable (Question) async -> Bool
  let passkey: @Sendable (BluetoothAddress) async -> UInt32?
  let show: @Sendable (BluetoothAddress, UInt32) -> Void

  /// - Parameters:
  ///   - capability: what the user can see and type (Core 5.4, Vol 3, Part C, 5.2.2.4).
  ///   - confirm: answers yes or no.
  ///   - passkey: the six digits that the device shows; `nil` when there is no answer.
  ///   - show: gets six digits that are to be typed in at the other side. It must return soon.
  public init(
    capability: IOCapability, confirm: @escaping @Sendable (Question) async -> Bool,
    passkey: @escaping @Sendable (BluetoothAddress) async -> UInt32?,
    show: @escaping @Sendable (BluetoothAddress, UInt32) -> Void
  ) {
    self.capability = capability
    self.confirm = confirm
    self.passkey = passkey
    self.show = show
  }

  /// Nobody is there: "Just Works" pairing is consented to, and nothing else is possible.
  public static let nobody = PairingUser(
    capability: .noInputNoOutput, confirm: { _ in true }, passkey: { _ in nil },
    show: { _, _ in })
}
