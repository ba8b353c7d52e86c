import OtaflashATT

/// What a client's bearer receives at most. One value for both directions: a request of ours and a
/// response of ours must name the same (Core 5.4, Vol 3, Part F, 3.4.2.2).
enum ReceiveMTU: Sendable {
  case intended(ATTMTU)
  case told(ATTMTU)

  /// The value to tell the peer, who knows it from here on.
  mutating func tell(preferring preferred: ATTMTU? = nil) -> ATTMTU {
    switch self {
    case .intended(let mtu):
      self = .told(preferred ?? mtu)
      return preferred ?? mtu
    case .told(let mtu):
      return mtu
    }
  }
}
