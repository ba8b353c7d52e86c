extension String {
  /// Returns the rest after `prefix`, or `nil` if the string does not start with it.
  package func removingPrefix(_ prefix: String) -> String? {
    hasPrefix(prefix) ? String(dropFirst(prefix.count)) : nil
  }
}
