/// The outcome of a management command (kernel mgmt.h, MGMT_STATUS_*).
public struct MgmtStatus: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
  public let rawValue: UInt8
  public init(rawValue: UInt8) { self.rawValue = rawValue }

  /// The command was executed.
  public static let success = MgmtStatus(rawValue: 0x00)
  /// The kernel does not support the command.
  public static let unknownCommand = MgmtStatus(rawValue: 0x01)
  /// The devices are not paired.
  public static let notPaired = MgmtStatus(rawValue: 0x06)
  /// Another operation of this kind is in progress.
  public static let busy = MgmtStatus(rawValue: 0x0A)
  /// The adapter is off.
  public static let notPowered = MgmtStatus(rawValue: 0x0F)
  /// There is no such adapter.
  public static let invalidIndex = MgmtStatus(rawValue: 0x11)
  /// An rfkill(8) switch keeps the adapter off.
  public static let blockedByRFKill = MgmtStatus(rawValue: 0x12)
  /// The process lacks CAP_NET_ADMIN.
  public static let permissionDenied = MgmtStatus(rawValue: 0x14)

  private static let texts = [
    "success", "unknown command", "not connected", "failed", "connect failed",
    "authentication failed", "not paired", "no resources", "timed out", "already connected",
    "busy", "rejected", "not supported", "invalid parameters", "disconnected", "not powered",
    "cancelled", "invalid adapter", "blocked by rfkill", "already paired", "permission denied",
  ]

  public var description: String {
    Int(rawValue) < Self.texts.count ? Self.texts[Int(rawValue)] : "status \(rawValue)"
  }
}
