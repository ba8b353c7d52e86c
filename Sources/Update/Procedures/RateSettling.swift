/// Finds the size of a transfer at which its rate stands still. A transfer waits for a connection
/// event before its first byte and for an acknowledgement after its last; of a short one that is a
/// good part, of a long one next to nothing. Pure.
struct RateSettling: Equatable, Sendable {
  /// Bytes of the first transfer, where the device has a slot for so many.
  static let firstSize = 64 * 1024
  /// What twice as many bytes may change.
  static let tolerance = 0.01
  /// No transfer is made that would take longer than this, to look closer.
  static let timeLimit = Duration.seconds(20)
  /// Writes with response after which the ends count for nothing: each is a round trip of its own.
  static let roundTripsMinimum = 100

  private enum State: Equatable {
    case searching(former: Double?)
    case done(isSettled: Bool)
  }

  private let slotSize: Int
  /// Bytes of the next transfer.
  private(set) var size: Int
  private var state: State

  /// - Parameter chunk: bytes of image a data write.
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

  /// Whether the rate of transfers of `size` stands still; `false` where the slot, or the time,
  /// ended the search before.
  var isSettled: Bool { state == .done(isSettled: true) }

  /// Takes what a transfer of `size` bytes has shown.
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
