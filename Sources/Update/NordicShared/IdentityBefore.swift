/// What the application of a Nordic device reported of itself before anything was activated.
struct IdentityBefore: RetainedValue {
  /// `nil` if the application was not connected to.
  private(set) var identity: ApplicationIdentity?

  /// - Parameter isActivated: what answers may be the new application, which is not kept.
  mutating func met(_ identity: ApplicationIdentity, isActivated: Bool) {
    if !isActivated, self.identity == nil { self.identity = identity }
  }
}
