import OtaflashATT
import OtaflashNumerals

extension GATTFault: ExplainedFault {
  public var summary: String { summary(during: nil) }

  /// - Parameter stage: what was being done, a noun; told where it says more.
  package func summary(during stage: String?) -> String {
    let during = stage.map { " during \($0)" } ?? ""
    return switch self {
    case .refused(let attribute, _): "the device refused attribute \(attribute)\(during)"
    case .insecure(_, _, let fault): fault.summary
    case .violation: "the device broke the attribute protocol\(during)"
    case .transactionTimedOut: "the device did not answer a request in time"
    case .linkLost(.keysRefused): SecurityFault.bondForgotten.summary
    case .linkLost: "the link was lost\(during)"
    case .cancelled: "the work was stopped\(during)"
    case .timedOut(let limit): "the device took longer than \(Numerals.seconds(limit))\(during)"
    case .notFound(let uuid): "the device has no attribute \(uuid)"
    case .notPermitted(let uuid, let needs): "characteristic \(uuid) of the device lacks '\(needs)'"
    case .queueFull(let limit): "more than \(limit) procedures waited for the device at once"
    case .mtuOutOfRange(let octets):
      "an ATT_MTU of \(octets) was asked for; 23 to 517 are possible"
    case .unsubscribed: "the subscription to the device was ended\(during)"
    case .valueTooLong(let octets, let limit):
      "a value of \(octets) octets was to be written where \(limit) fit"
    }
  }

  public var explanation: String {
    switch self {
    case .refused(_, let code): "ATT error 0x\(Numerals.hex(code.rawValue)): \(code.meaning)."
    case .insecure(_, let code, let fault): fault.explanation(wantedBy: code)
    case .violation(let what): "It is against the specification: \(what)."
    case .transactionTimedOut:
      "A request has 30 s, unless less was asked for; then the connection is over."
    case .linkLost(let loss): loss.sentence
    case .cancelled: "The device ends the session by itself."
    case .timedOut: "It may be busy, or out of range."
    case .notFound: "It is another device, or its firmware is another one than was expected."
    case .notPermitted: "Its service is not built as the profile wants it."
    case .queueFull, .mtuOutOfRange, .valueTooLong:
      "That is more than can be asked for; nothing was sent."
    case .unsubscribed: "It was ended for everybody who had it."
    }
  }

  public var remedy: Remedy? {
    switch self {
    // A code or a log-in of the device's own application.
    case .refused(_, .insufficientAuthorization):
      .advice("Give this host the right at the device, as its documentation describes.")
    case .refused(_, let code): code.wantsRight ? .pair : .inspectDevice
    case .insecure(_, _, let fault): fault.remedy
    case .violation, .notFound, .notPermitted: .inspectDevice
    case .linkLost(.keysRefused): SecurityFault.bondForgotten.remedy
    case .transactionTimedOut, .linkLost, .cancelled, .timedOut: .tryAgain
    case .queueFull, .mtuOutOfRange, .valueTooLong, .unsubscribed: nil
    }
  }
}
