import OtaflashATT

/// Why a link's security could not be raised. Texts are for people; programs read the case.
#if hasAttribute(nonexhaustive)
@nonexhaustive
#endif
public enum SecurityFault: Error, Equatable, Hashable, Sendable {
  /// The transport knows no security, as a Unix socket does not.
  case unsupported
  /// The devices are not paired, and making a pairing was not asked for.
  case notPaired
  /// This process lacks a right; `cause` is a whole sentence.
  case permissionDenied(cause: String, remedy: Remedy)
  /// The device no longer has the keys of the pairing that this side remembers.
  case bondForgotten
  /// The devices could not be paired; `reason` is a whole sentence.
  case pairingFailed(reason: String, remedy: Remedy = .pair)
  /// The link reached no more than this.
  case insufficient(reached: AttributeSecurity)
  /// The device, or its user, did not answer in time.
  case timedOut(after: Duration)
  /// The link was lost meanwhile.
  case linkLost(LinkLoss)
  /// The task was cancelled.
  case cancelled
}

extension AttributeSecurity {
  /// What a link that offers `self` must offer before a request that was refused with `code` is
  /// made again; `nil` when no security that a link can have would help (Core 5.4, Vol 3, Part C,
  /// 10.3.1).
  ///
  /// Insufficient Authentication is also what a device says that wants no more than a pairing, so
  /// encryption is tried first.
  package func raised(after code: ATTErrorCode) -> AttributeSecurity? {
    switch code {
    case .insufficientEncryption,
      .insufficientAuthentication where !contains(.encryption):
      union(.encryption)
    case .insufficientAuthentication where !contains(.authentication): union(.authentication)
    default: nil
    }
  }
}
