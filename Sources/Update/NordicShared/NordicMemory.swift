import OtaflashGATT

/// What is remembered of a Nordic device over its connections.
extension UpdateContext {
  /// What the application told of itself before anything was activated; `nil` when it was not met.
  var identityBefore: ApplicationIdentity? { memory.last(ApplicationIdentity.self) }

  /// Whoever answers after an activation may be the new application.
  func met(_ identity: ApplicationIdentity) {
    if !hasActivated, identityBefore == nil { memory.keep(identity) }
  }
}
