import Glibc
import OtaflashGATT

/// Why the management interface could not do what was asked.
public enum MgmtFault: Error, Equatable, Sendable {
  /// No adapter, or the kernel has no Bluetooth.
  case adapterUnavailable(cause: String, remedy: String)
  /// The process lacks CAP_NET_ADMIN.
  case permissionDenied(cause: String, remedy: String)
  /// Another program is discovering.
  case busy(cause: String, remedy: String)
  /// The kernel cannot do it in the way that was asked for.
  case unsupported(cause: String, remedy: String)
  /// The kernel refused for another reason.
  case refused(opcode: UInt16, MgmtStatus)
  /// The kernel did not answer within the limit.
  case noAnswer(opcode: UInt16)
  case malformed
  case socket(LinkLoss)
  case systemCall(name: String, errno: Int32)
  case cancelled

  init(_ loss: LinkLoss) { self = loss == .cancelled ? .cancelled : .socket(loss) }

  /// What a status other than success means.
  init(_ status: MgmtStatus, opcode: UInt16) {
    switch status {
    case .permissionDenied:
      self = .permissionDenied(
        cause: "Scanning and adapter settings need CAP_NET_ADMIN.", remedy: Remedy.setcap)
    case .busy:
      self = .busy(
        cause: "Another program is scanning.", remedy: "Run `bluetoothctl scan off`.")
    case .notPowered:
      self = .adapterUnavailable(
        cause: "The adapter is switched off.", remedy: "Run `btmgmt power on`.")
    case .blockedByRFKill:
      self = .adapterUnavailable(
        cause: "The adapter is blocked by rfkill.", remedy: "Run `rfkill unblock bluetooth`.")
    case .invalidIndex:
      self = .adapterUnavailable(
        cause: "There is no adapter of that number.", remedy: "Run `btmgmt info`.")
    default:
      self = .refused(opcode: opcode, status)
    }
  }

  /// What a failure to open the control socket means.
  init(openError number: Int32, call: String) {
    switch ConnectFault(l2capError: number, at: .socket, device: "") {
    case .adapterUnavailable(let cause, let remedy):
      self = .adapterUnavailable(cause: cause, remedy: remedy)
    case .permissionDenied(let cause, let remedy):
      self = .permissionDenied(cause: cause, remedy: remedy)
    case .busy, .deviceNotFound, .systemCall, .lostWhileConnecting, .cancelled:
      self = .systemCall(name: call, errno: number)
    }
  }
}
