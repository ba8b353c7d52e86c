extension String {
  /// The rest after `prefix`, or `nil` when the text does not start with it.
  package func removingPrefix(_ prefix: String) -> String? {
    hasPrefix(prefix) ? String(dropFirst(prefix.count)) : nil
  }
}
