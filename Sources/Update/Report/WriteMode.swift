/// How image bytes are written.
public enum WriteMode: String, Sendable, CaseIterable {
  /// The default. Write Commands, as many as the device's window permits, and a Write Request where
  /// a window ends: fills the air, and each answer tells that all before it was met. A device whose
  /// data characteristic takes only one of the two gets only that.
  case auto
  /// One Write Request at a time, each answered: what every device does.
  case withResponse = "with-response"
  /// Write Commands, as many as the device's window permits: fills the air.
  case withoutResponse = "without-response"
}
