import OtaflashATT

extension ConnectFault: CustomStringConvertible {
  /// Whole sentences for people: what was in the way, and what helps.
  public var description: String {
    switch self {
    case .adapterUnavailable(let cause, let remedy), .deviceNotFound(let cause, let remedy),
      .busy(let cause, let remedy), .permissionDenied(let cause, let remedy):
      "\(cause) \(remedy)"
    case .systemCall(let name, let errno, let cause, let remedy):
      "\(cause) \(remedy) (\(name), errno \(errno))"
    case .lostWhileConnecting(let loss): "The link came up and went away: \(loss)."
    case .cancelled: "Connecting was cancelled."
    }
  }
}

extension SecurityFault: CustomStringConvertible {
  /// A whole sentence for people.
  public var description: String {
    switch self {
    case .unsupported: "This kind of link cannot be secured."
    case .notPaired: "The devices are not paired."
    case .permissionDenied(let cause, let remedy): "\(cause) \(remedy)"
    case .bondForgotten: "The device no longer has the keys of the pairing. Pair it again."
    case .pairingFailed(let reason): reason
    case .insufficient(let reached):
      reached.contains(.encryption)
        ? "The link is encrypted, and the device wants it authenticated, too."
        : "The link could not be encrypted."
    case .timedOut(let limit): "The link was not secured within \(limit)."
    case .linkLost(let loss): "The link was lost while it was secured: \(loss)."
    case .cancelled: "Securing the link was cancelled."
    }
  }
}
