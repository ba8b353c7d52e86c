import OtaflashATT

/// The receive MTU of a client's bearer. Both directions use one value, because a request and a
/// response of the host must contain the same value (Core 5.4, Vol 3, Part F, 3.4.2.2).
enum ReceiveMTU: Sendable {
  case intended(ATTMTU)
  case announced(ATTMTU)

  /// Returns the value to send to the peer; this value can no longer change.
  mutating func announce(preferring preferred: ATTMTU? = nil) -> ATTMTU {
    switch self {
    case .intended(let mtu):
      self = .announced(preferred ?? mtu)
      return preferred ?? mtu
    case .announced(let mtu):
      return mtu
    }
  }
}
