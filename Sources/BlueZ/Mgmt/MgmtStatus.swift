/// The outcome of a management command (kernel mgmt.h, MGMT_STATUS_*).
public struct MgmtStatus: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
  public let rawValue: UInt8
  public init(rawValue: UInt8) { self.rawValue = rawValue }

  public static let success = MgmtStatus(rawValue: 0x00)
  public static let unknownCommand = MgmtStatus(rawValue: 0x01)
  public static let notPaired = MgmtStatus(rawValue: 0x06)
  public static let busy = MgmtStatus(rawValue: 0x0A)
  public static let notPowered = MgmtStatus(rawValue: 0x0F)
  public static let invalidIndex = MgmtStatus(rawValue: 0x11)
  public static let blockedByRFKill = MgmtStatus(rawValue: 0x12)
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
