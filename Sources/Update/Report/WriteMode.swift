/// How image bytes are written.
public enum WriteMode: String, Sendable, CaseIterable {
  /// The default. Write Commands, as many as the device's window permits, and a Write Request at
  /// the end of a window: this uses the air fully, and each response acknowledges all preceding
  /// writes. If the data characteristic supports only one kind of write, only that kind is used.
  case auto
  /// One Write Request at a time: every device supports it.
  case withResponse = "with-response"
  /// Write Commands, as many as the device's window permits: uses the air fully.
  case withoutResponse = "without-response"
}
