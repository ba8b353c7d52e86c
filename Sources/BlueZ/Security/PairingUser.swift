import OtaflashATT

/// The source of the answers to pairing questions: an operator at a terminal, or a fixed rule.
public struct PairingUser: Sendable {
  /// A question of the pairing procedure.
  public enum Question: Equatable, Sendable {
    /// Whether to pair with the device, although its identity cannot be verified.
    case consent(BluetoothAddress)
    /// Whether the device shows the same six digits as the host.
    case comparison(BluetoothAddress, UInt32)
  }

  /// The I/O capability that is sent to the device.
  public let capability: IOCapability
  let confirm: @Sendable (Question) async -> Bool
  let passkey: @Sendable (BluetoothAddress) async -> UInt32?
  let show: @Sendable (BluetoothAddress, UInt32) -> Void

  /// - Parameters:
  ///   - capability: the means of input and output (Core 5.4, Vol 3, Part C, 5.2.2.4).
  ///   - confirm: returns the answer to a question.
  ///   - passkey: returns the six digits that the device shows; `nil` refuses the pairing.
  ///   - show: receives six digits to enter on the device. The closure must return quickly.
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

  /// Answers without a user: accepts "Just Works" pairing; other methods are not possible.
  public static let unattended = PairingUser(
    capability: .noInputNoOutput, confirm: { _ in true }, passkey: { _ in nil },
    show: { _, _ in })
}
