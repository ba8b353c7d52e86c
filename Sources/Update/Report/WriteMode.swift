/// The way in which image bytes are written.
public enum WriteMode: String, Sendable, CaseIterable {
  /// The default: sends as many Write Commands as the device's window permits, and a Write Request
  /// at the end of each window. This mode uses all air time, and each response acknowledges all
  /// preceding writes. If the data characteristic supports only one kind of write, only that kind
  /// is used.
  case auto
  /// Sends one Write Request at a time, which every OTA service supports.
  case withResponse = "with-response"
  /// Sends as many Write Commands as the device's window permits, which uses all air time.
  case withoutResponse = "without-response"
}
