import OtaflashATT
import OtaflashNumerals

extension LinkLoss {
  /// The event that ended the link, as a complete sentence.
  public var sentence: String {
    switch self {
    case .closedByPeer: "The device ended the connection."
    case .closedLocally: "The host ended the connection."
    case .supervisionTimeout: "No packet was received from the device: it is out of range or off."
    case .cancelled: "The wait was cancelled."
    case .keysRefused: SecurityFault.bondForgotten.explanation
    case .tooLarge(let bytes, let limit):
      "A packet of \(bytes) bytes exceeds the limit of the link, \(limit) bytes."
    case .failed(_, let reason): reason
    }
  }
}

extension ConnectFault: ExplainedFault {
  public var summary: String {
    switch self {
    case .adapterUnavailable: "no Bluetooth adapter can be used"
    case .deviceNotFound: "the device was not found"
    case .busy: "the device is in use"
    case .permissionDenied: "a permission is missing"
    case .systemCall(let name, let errno, _, _): "\(name) failed (errno \(errno))"
    case .lostWhileConnecting(.keysRefused): SecurityFault.bondForgotten.summary
    case .lostWhileConnecting: "the link was established and lost immediately"
    case .cancelled: "connecting was stopped"
    }
  }

  public var explanation: String {
    switch self {
    case .adapterUnavailable(let cause, _), .deviceNotFound(let cause, _), .busy(let cause, _),
      .permissionDenied(let cause, _), .systemCall(_, _, let cause, _):
      cause
    case .lostWhileConnecting(let loss): loss.sentence
    case .cancelled: "Nothing was sent to the device."
    }
  }

  public var remedy: Remedy? {
    switch self {
    case .adapterUnavailable(_, let remedy), .deviceNotFound(_, let remedy), .busy(_, let remedy),
      .permissionDenied(_, let remedy), .systemCall(_, _, _, let remedy):
      remedy
    case .lostWhileConnecting(.keysRefused): SecurityFault.bondForgotten.remedy
    case .lostWhileConnecting, .cancelled: .tryAgain
    }
  }
}

extension SecurityFault: ExplainedFault {
  public var summary: String {
    switch self {
    case .unsupported: "the link does not support encryption"
    case .notPaired: "the device must be paired first"
    case .permissionDenied: "pairing is not permitted"
    case .bondForgotten: "the device has forgotten this computer"
    case .pairingFailed: "the devices could not be paired"
    case .insufficient: "the pairing is weaker than the device requires"
    case .timedOut(let limit): "the devices were not paired within \(Numerals.seconds(limit))"
    case .linkLost: "the link was lost while it was being secured"
    case .cancelled: "pairing was stopped"
    }
  }

  public var explanation: String {
    switch self {
    case .unsupported: "Only a device connected over the air can be paired."
    case .notPaired: "Pairing was not requested."
    case .permissionDenied(let cause, _): cause
    case .bondForgotten:
      "The device was paired before and no longer has the keys, for example after a factory reset."
    case .pairingFailed(let reason, _): reason
    case .insufficient(let reached):
      reached.contains(.encryption)
        ? "The link is encrypted, but no passkey was compared or entered."
        : "The link is not encrypted."
    case .timedOut: "Pairing was not confirmed on this computer or on the device."
    case .linkLost(let loss): loss.sentence
    case .cancelled: "The devices are not paired."
    }
  }

  public var remedy: Remedy? {
    switch self {
    case .unsupported: .inspectDevice
    case .permissionDenied(_, let remedy), .pairingFailed(_, let remedy): remedy
    case .bondForgotten: .pairAgain(device: nil)
    case .notPaired, .insufficient, .timedOut: .pair
    case .linkLost, .cancelled: .tryAgain
    }
  }

  /// Returns the explanation if the device responded with `code`, which requires this security.
  package func explanation(wantedBy code: ATTErrorCode) -> String {
    switch self {
    case .unsupported, .notPaired, .permissionDenied, .pairingFailed, .insufficient, .timedOut:
      "The device reports: \(code.meaning) (ATT error 0x\(Numerals.hex(code.rawValue))). "
        + explanation
    case .bondForgotten, .linkLost, .cancelled: explanation
    }
  }
}
