import OtaflashATT
import OtaflashNumerals

extension GATTFault: ExplainedFault {
  public var summary: String { summary(during: nil) }

  /// - Parameter stage: the current activity, as a noun; included if it adds information.
  package func summary(during stage: String?) -> String {
    let during = stage.map { " during \($0)" } ?? ""
    return switch self {
    case .refused(let attribute, _): "the device refused attribute \(attribute)\(during)"
    case .insecure(_, _, let fault): fault.summary
    case .violation: "the device violated the attribute protocol\(during)"
    case .transactionTimedOut: "the device did not respond to a request in time"
    case .linkLost(.keysRefused): SecurityFault.bondForgotten.summary
    case .linkLost: "the link was lost\(during)"
    case .cancelled: "the operation was cancelled\(during)"
    case .timedOut(let limit): "the device took longer than \(Numerals.seconds(limit))\(during)"
    case .notFound(let uuid): "the device has no attribute \(uuid)"
    case .notPermitted(let uuid, let needs): "characteristic \(uuid) of the device lacks '\(needs)'"
    case .queueFull(let limit): "more than \(limit) procedures were waiting for the device"
    case .mtuOutOfRange(let bytes):
      "an ATT_MTU of \(bytes) is outside the range of 23 to 517"
    case .unsubscribed: "the subscription to the device was ended\(during)"
    case .valueTooLong(let bytes, let limit):
      "a value of \(bytes) bytes exceeds the limit of \(limit)"
    }
  }

  public var explanation: String {
    switch self {
    case .refused(_, let code): "ATT error 0x\(Numerals.hex(code.rawValue)): \(code.meaning)."
    case .insecure(_, let code, let fault): fault.explanation(wantedBy: code)
    case .violation(let what): "This violates the specification: \(what)."
    case .transactionTimedOut:
      "The connection ends when the limit of a request expires (30 s, unless a shorter limit is "
        + "set)."
    case .linkLost(let loss): loss.sentence
    case .cancelled: "The device ends the session automatically."
    case .timedOut: "The device may be busy, or out of range."
    case .notFound: "It is a different device, or it runs a different firmware than expected."
    case .notPermitted: "Its service does not match the profile."
    case .queueFull, .mtuOutOfRange, .valueTooLong:
      "The request was rejected; nothing was sent."
    case .unsubscribed: "It ended for all subscribers."
    }
  }

  public var remedy: Remedy? {
    switch self {
    // The device's application requires a code or a login.
    case .refused(_, .insufficientAuthorization):
      .advice("Grant this host access on the device, as the device's documentation describes.")
    case .refused(_, let code): code.wantsRight ? .pair : .inspectDevice
    case .insecure(_, _, let fault): fault.remedy
    case .violation, .notFound, .notPermitted: .inspectDevice
    case .linkLost(.keysRefused): SecurityFault.bondForgotten.remedy
    case .transactionTimedOut, .linkLost, .cancelled, .timedOut: .tryAgain
    case .queueFull, .mtuOutOfRange, .valueTooLong, .unsubscribed: nil
    }
  }
}
