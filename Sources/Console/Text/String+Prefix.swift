extension String {
  /// Returns the text after `prefix`, or `nil` if the string does not start with `prefix`.
  package func removingPrefix(_ prefix: String) -> String? {
    hasPrefix(prefix) ? String(dropFirst(prefix.count)) : nil
  }
}
