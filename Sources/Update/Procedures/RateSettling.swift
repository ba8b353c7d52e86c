/// Finds the size at which the rate of a transfer settles. A transfer waits for a connection event
/// before its first byte and for an acknowledgement after its last: a large part of a short
/// transfer, and a negligible part of a long one. Pure.
struct RateSettling: Equatable, Sendable {
  /// Bytes of the first transfer, if the device's slot is large enough.
  static let firstSize = 64 * 1024
  /// The permitted change of the rate at twice the size.
  static let tolerance = 0.01
  /// No transfer that would take longer than this is started.
  static let timeLimit = Duration.seconds(20)
  /// Writes with response after which both ends are negligible: each write is one round trip.
  static let roundTripsMinimum = 100

  private enum State: Equatable {
    case searching(former: Double?)
    case done(isSettled: Bool)
  }

  private let slotSize: Int
  /// Bytes of the next transfer.
  private(set) var size: Int
  private var state: State

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
  /// ended the search.
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
