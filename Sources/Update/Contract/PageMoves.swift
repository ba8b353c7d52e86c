/// The time in which MCUboot moves the pages of an image between its slots.
enum PageMoves {
  /// The time in which a page of 4 KiB is moved up to three times, with an erase each time.
  private static let pageTime = Duration.milliseconds(500)
  private static let pageSize = 4096
  /// The maximum number of times that each page is moved.
  static let movesMaximum = 3

  /// Returns the longest time for this number of bytes.
  static func limit(forBytes bytes: Int) -> Duration {
    pageTime * ((bytes + pageSize - 1) / pageSize)
  }
}
