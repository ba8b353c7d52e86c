/// The values that the application of a Nordic device reported before the activation.
struct IdentityBefore: RetainedValue {
  /// `nil` if the host did not connect to the application.
  private(set) var identity: ApplicationIdentity?

  /// - Parameter isActivated: if `true`, the values may belong to the new application, so they are
  ///   ignored.
  mutating func met(_ identity: ApplicationIdentity, isActivated: Bool) {
    if !isActivated, self.identity == nil { self.identity = identity }
  }
}
