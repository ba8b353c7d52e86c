/// The values that the application of a device reported before the activation.
struct IdentityBefore: RetainedValue {
  /// The first values that the application reported; `nil` if the host did not connect to the
  /// application before the activation.
  private(set) var identity: ApplicationIdentity?

  /// Records the values that the connected application reports.
  ///
  /// - Parameter isActivated: if `true`, the values may belong to the new application, so they are
  ///   ignored.
  mutating func met(_ identity: ApplicationIdentity, isActivated: Bool) {
    if !isActivated, self.identity == nil { self.identity = identity }
  }
}
