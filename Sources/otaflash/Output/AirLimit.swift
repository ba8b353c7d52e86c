import OtaflashUpdate

/// What the air allows, for the share that the progress line shows.
enum AirLimit {
  /// Octets of image per second that the link could carry at most; `nil` when too little is known
  /// of it to say so honestly.
  static let bytesPerSecond: @Sendable (LinkReport) -> Double? = { _ in nil }
}
