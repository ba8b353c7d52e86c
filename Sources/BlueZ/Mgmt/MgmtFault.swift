import Glibc
import OtaflashATT
import OtaflashGATT
import OtaflashNumerals

/// Why the management interface could not do what was asked.
#if hasAttribute(nonexhaustive)
@nonexhaustive
#endif
public enum MgmtFault: Error, Equatable, Sendable {
  /// No adapter, or the kernel has no Bluetooth.
  case adapterUnavailable(cause: String, remedy: Remedy)
  /// The process lacks CAP_NET_ADMIN.
  case permissionDenied(cause: String, remedy: Remedy)
  /// Another program is discovering.
  case busy(cause: String, remedy: Remedy)
  /// The kernel cannot do it in the way that was asked for.
  case unsupported(cause: String, remedy: Remedy)
  /// The kernel refused for another reason.
  case refused(opcode: UInt16, MgmtStatus)
  /// The kernel did not answer within the limit.
  case noAnswer(opcode: UInt16)
  /// The kernel's answer does not have the form that its command asks for.
  case malformed
  /// The socket to the kernel ended.
  case socket(LinkLoss)
  /// A system call failed, by its name and its number (errno(3)).
  case systemCall(name: String, errno: Int32)
  /// The task that asked was cancelled.
  case cancelled

  init(_ loss: LinkLoss) { self = loss == .cancelled ? .cancelled : .socket(loss) }

  /// What a status other than success means.
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
        cause: "There is no adapter of that number.", remedy: .chooseAnotherAdapter)
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

extension MgmtFault: ExplainedFault {
  public var summary: String {
    switch self {
    case .adapterUnavailable: "no Bluetooth adapter can be used"
    case .permissionDenied: "a permission is missing"
    case .busy: "the adapter is in use"
    case .unsupported: "the adapter cannot scan like that"
    case .refused(_, let status): "the adapter refused: \(status)"
    case .noAnswer: "the adapter does not answer"
    case .malformed: "the kernel's answer about the adapter makes no sense"
    case .socket: "the kernel's management socket failed"
    case .systemCall(let name, let errno): "\(name) failed: \(SystemError(errno).text)"
    case .cancelled: "the work with the adapter was stopped"
    }
  }

  public var explanation: String {
    switch self {
    case .adapterUnavailable(let cause, _), .permissionDenied(let cause, _), .busy(let cause, _),
      .unsupported(let cause, _):
      cause
    case .refused(let opcode, _): "Management command 0x\(Numerals.hex(opcode)) failed."
    case .noAnswer: "Its driver or its firmware hangs."
    case .malformed: "This kernel is newer or older than those that are known here."
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
