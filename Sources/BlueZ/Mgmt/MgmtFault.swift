import Glibc
import OtaflashATT
import OtaflashGATT
import OtaflashNumerals

/// The reason why an operation of the management interface failed.
#if hasAttribute(nonexhaustive)
@nonexhaustive
#endif
public enum MgmtFault: Error, Equatable, Sendable {
  /// The host has no such adapter, the adapter is off or blocked, or the kernel has no Bluetooth.
  case adapterUnavailable(cause: String, remedy: Remedy)
  /// The process lacks CAP_NET_ADMIN, or the system does not permit it to use Bluetooth sockets.
  case permissionDenied(cause: String, remedy: Remedy)
  /// Another program is discovering.
  case busy(cause: String, remedy: Remedy)
  /// The kernel does not support the requested operation.
  case unsupported(cause: String, remedy: Remedy)
  /// The kernel rejected the command for another reason.
  case refused(opcode: UInt16, MgmtStatus)
  /// The kernel did not respond within the time limit.
  case noAnswer(opcode: UInt16)
  /// The kernel's response does not have the format of its command.
  case malformed
  /// The socket to the kernel can no longer be used.
  case socket(LinkLoss)
  /// A system call failed; `name` is the name of the call, and `errno` its error number (errno(3)).
  case systemCall(name: String, errno: Int32)
  /// The calling task was cancelled.
  case cancelled

  init(_ loss: LinkLoss) { self = loss == .cancelled ? .cancelled : .socket(loss) }

  /// Creates the fault for a status other than success.
  init(_ status: MgmtStatus, opcode: UInt16) {
    switch status {
    case .permissionDenied:
      self = .permissionDenied(
        cause: "Scanning and adapter settings need CAP_NET_ADMIN.", remedy: .grantCapabilities)
    case .busy:
      self = .busy(
        cause: "Another program is scanning.", remedy: .endOtherScan)
    case .notPowered:
      self = .adapterUnavailable(
        cause: "The adapter is switched off.", remedy: .turnAdapterOn(adapter: nil))
    case .blockedByRFKill:
      self = .adapterUnavailable(
        cause: "The adapter is blocked by rfkill.", remedy: .unblockAdapter)
    case .invalidIndex:
      self = .adapterUnavailable(
        cause: "There is no adapter with this number.", remedy: .chooseAnotherAdapter)
    default:
      self = .refused(opcode: opcode, status)
    }
  }

  /// Creates the fault for a failure to open the control socket.
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

extension MgmtFault: ExplainedFault {
  public var summary: String {
    switch self {
    case .adapterUnavailable: "no Bluetooth adapter can be used"
    case .permissionDenied: "a permission is missing"
    case .busy: "the adapter is in use"
    case .unsupported: "the adapter does not support this scan"
    case .refused(_, let status): "the adapter rejected the command: \(status)"
    case .noAnswer: "the adapter does not respond"
    case .malformed: "the kernel's response about the adapter is malformed"
    case .socket: "the kernel's management socket failed"
    case .systemCall(let name, let errno): "\(name) failed: \(SystemError(errno).text)"
    case .cancelled: "the operation on the adapter was cancelled"
    }
  }

  public var explanation: String {
    switch self {
    case .adapterUnavailable(let cause, _), .permissionDenied(let cause, _), .busy(let cause, _),
      .unsupported(let cause, _):
      cause
    case .refused(let opcode, _): "Management command 0x\(Numerals.hex(opcode)) failed."
    case .noAnswer: "The driver or the firmware of the adapter is unresponsive."
    case .malformed: "The format of this kernel's responses is not supported."
    case .socket(let loss): loss.sentence
    case .systemCall: "The kernel's management interface cannot be used."
    case .cancelled: "Nothing was sent to any device."
    }
  }

  public var remedy: Remedy? {
    switch self {
    case .adapterUnavailable(_, let remedy), .permissionDenied(_, let remedy), .busy(_, let remedy),
      .unsupported(_, let remedy):
      remedy
    case .refused, .noAnswer, .malformed, .socket, .systemCall: .examineSystem
    case .cancelled: .tryAgain
    }
  }
}
