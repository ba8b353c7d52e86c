import OtaflashATT

/// The reason why a link's security could not be raised. The messages are for users; programs
/// evaluate the case.
#if hasAttribute(nonexhaustive)
@nonexhaustive
#endif
public enum SecurityFault: Error, Equatable, Hashable, Sendable {
  /// The transport, such as a Unix socket, does not support security.
  case unsupported
  /// The devices are not paired, and pairing was not requested.
  case notPaired
  /// This process lacks a permission; `cause` is a complete sentence.
  case permissionDenied(cause: String, remedy: Remedy)
  /// The device no longer has the keys of the pairing that the host stores.
  case bondForgotten
  /// The devices could not be paired; `reason` is a complete sentence.
  case pairingFailed(reason: String, remedy: Remedy = .pair)
  /// The link has only this level of security after the procedure.
  case insufficient(reached: AttributeSecurity)
  /// The device or its user did not respond in time.
  case timedOut(after: Duration)
  /// The link was lost during the procedure.
  case linkLost(LinkLoss)
  /// The task was cancelled.
  case cancelled
}

extension AttributeSecurity {
  /// Returns the security that a link with `self` needs before the host repeats a request that the
  /// device refused with `code`; `nil` if link security cannot resolve the refusal (Core 5.4, Vol
  /// 3, Part C, 10.3.1).
  ///
  /// Some devices report Insufficient Authentication although encryption is sufficient, so
  /// encryption is tried first.
  package func raised(after code: ATTErrorCode) -> AttributeSecurity? {
    switch code {
    case .insufficientEncryption where !contains(.encryption),
      .insufficientAuthentication where !contains(.encryption):
      union(.encryption)
    case .insufficientAuthentication where !contains(.authentication): union(.authentication)
    default: nil
    }
  }
}
