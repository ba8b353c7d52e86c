import OtaflashATT
import OtaflashNumerals

extension LinkLoss {
  /// What happened to the link, as a whole sentence.
  public var sentence: String {
    switch self {
    case .closedByPeer: "The device ended the connection."
    case .closedLocally: "This side ended the connection."
    case .supervisionTimeout: "Nothing was heard from the device: it is out of range or off."
    case .cancelled: "The wait was cancelled."
    case .keysRefused: SecurityFault.bondForgotten.explanation
    case .tooLarge(let octets, let limit):
      "A packet of \(octets) octets was to be sent where \(limit) fit."
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
    case .lostWhileConnecting: "the link came up and was lost at once"
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
    case .unsupported: "such a link cannot be secured"
    case .notPaired: "the device must be paired first"
    case .permissionDenied: "pairing is not permitted"
    case .bondForgotten: "the device has forgotten this computer"
    case .pairingFailed: "the devices could not be paired"
    case .insufficient: "the pairing is weaker than the device wants it"
    case .timedOut(let limit): "the devices were not paired within \(Numerals.seconds(limit))"
    case .linkLost: "the link was lost while it was being secured"
    case .cancelled: "pairing was stopped"
    }
  }

  public var explanation: String {
    switch self {
    case .unsupported: "Only a device that is reached over the air can be paired."
    case .notPaired: "No pairing was to be made here."
    case .permissionDenied(let cause, _): cause
    case .bondForgotten:
      "It was paired before and no longer has the keys, as after a reset to the factory state."
    case .pairingFailed(let reason, _): reason
    case .insufficient(let reached):
      reached.contains(.encryption)
        ? "The link is encrypted, but nobody compared or entered a passkey."
        : "The link is not encrypted."
    case .timedOut: "Nobody answered, here or at the device."
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

  /// The explanation where a device has asked for the security with an error code.
  package func explanation(wantedBy code: ATTErrorCode) -> String {
    switch self {
    case .unsupported, .notPaired, .permissionDenied, .pairingFailed, .insufficient, .timedOut:
      "The device says: \(code.meaning) (ATT error 0x\(Numerals.hex(code.rawValue))). "
        + explanation
    case .bondForgotten, .linkLost, .cancelled: explanation
    }
  }
}
