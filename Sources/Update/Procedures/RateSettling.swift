/// Finds the transfer size at which the rate settles. A transfer waits for a connection event
/// before its first byte, and for an acknowledgement after its last byte. These waits are a large
/// part of a short transfer, and a negligible part of a long transfer.
struct RateSettling: Equatable, Sendable {
  /// The size of the first transfer in bytes, if the device's slot is large enough.
  static let firstSize = 64 * 1024
  /// The maximum relative change of the settled rate when the size doubles.
  static let tolerance = 0.01
  /// The maximum expected duration of a transfer; a longer transfer is not started.
  static let timeLimit = Duration.seconds(20)
  /// The number of writes with response that makes both waits negligible: each write takes one
  /// round trip.
  static let roundTripsMinimum = 100

  private enum State: Equatable {
    case searching(former: Double?)
    case done(isSettled: Bool)
  }

  private let slotSize: Int
  /// The size of the next transfer in bytes.
  private(set) var size: Int
  private var state: State

  /// Starts a search in a write mode.
  ///
  /// - Parameter chunk: image bytes per data write.
  init(_ mode: WriteMode, chunk: Int, slotSize: Int) {
    self.slotSize = slotSize
    size = min(Self.firstSize, slotSize)
    switch mode {
    case .withResponse: state = .done(isSettled: size / chunk >= Self.roundTripsMinimum)
    case .auto, .withoutResponse: state = .searching(former: nil)
    }
  }

  var isSearching: Bool {
    if case .searching = state { true } else { false }
  }

  /// Whether the rate of transfers of `size` has settled; `false` if the slot or the time limit
  /// ended the search, or if a transfer with response has too few writes.
  var isSettled: Bool { state == .done(isSettled: true) }

  /// Records the result of a transfer of `size` bytes.
  mutating func take(_ bytesPerSecond: Double, took: Duration) {
    guard case .searching(let former) = state else { return }
    if let former, abs(bytesPerSecond / former - 1) < Self.tolerance {
      state = .done(isSettled: true)
    } else if size == slotSize || took * 2 > Self.timeLimit {
      state = .done(isSettled: false)
    } else {
      size = min(size * 2, slotSize)
      state = .searching(former: bytesPerSecond)
    }
  }
}
