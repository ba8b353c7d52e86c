/// The values that the application of a Nordic device reported before the activation.
struct IdentityBefore: RetainedValue {
  /// `nil` if the application was not connected to.
  private(set) var identity: ApplicationIdentity?

  /// - Parameter isActivated: the values may be those of the new application, and are not kept.
  mutating func met(_ identity: ApplicationIdentity, isActivated: Bool) {
    if !isActivated, self.identity == nil { self.identity = identity }
  }
}
