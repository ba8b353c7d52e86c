import OtaflashATT

/// The allocation of a central's one radio to its links: each link has its own grid of anchors, and
/// two connection events cannot overlap on the air (Core 5.4, Vol 6, Part B, 4.5.1).
///
/// The specification does not define the result of a collision. This type uses the rules of
/// Zephyr's controller (`lll_central.c`, `ticker.c`):
///
/// - An event is closed early enough for the anchor of another link that has data.
/// - If not even its first packet pair fits before that anchor, the link that has skipped more
///   events has priority (`ticker_resolve_collision`), and the other link skips its event.
///   Therefore, every link is served, regardless of the number of links.
/// - A link whose anchor falls into the packet pair of another link skips its event.
/// - A new link's anchors are in the middle of the largest gap.
///
/// A link without data only exchanges an empty packet pair at its anchors. These pairs use air time
/// of the other links but do not close their events, which is more favorable than in real
/// controllers. The simulation needs no processor time for them. All times are microseconds of one
/// clock.
struct RadioSchedule: Sendable {
  private struct Seat {
    let interval: Int
    /// One of the link's anchors; the other anchors differ from it by multiples of the interval.
    let phase: Int
    /// The duration of an empty packet pair, including the interframe space after it.
    let emptyPair: Int
    var hasData = false
    /// The number of consecutive events skipped for other links.
    var skipped = 0

    /// Returns the first anchor after `moment`.
    func anchor(after moment: Int) -> Int {
      let past = (moment - phase) % interval
      return moment + interval - (past < 0 ? past + interval : past)
    }
  }

  private static let space = PHY.interframeSpaceMicroseconds

  /// The links; the index is the number of the link.
  private var seats: [Seat?] = []
  private(set) var linksWithData = 0
  /// The end of the last packet pair that was granted.
  private var heldUntil = Int.min
  /// The duration of all packet pairs that were granted so far, in microseconds.
  private(set) var airTime = 0

  var linkCount: Int { seats.count { $0 != nil } }

  /// Adds a link; returns its number and its first anchor.
  mutating func join(_ model: RadioModel, at now: Int) -> (link: Int, anchor: Int) {
    let interval = model.interval.microseconds
    let anchor = now + offsetOfLargestGap(interval: interval, from: now)
    let seat = Seat(
      interval: interval, phase: anchor,
      emptyPair: model.pairMicroseconds(central: 0, peripheral: 0) + Self.space)
    guard let free = seats.firstIndex(where: { $0 == nil }) else {
      seats.append(seat)
      return (seats.count - 1, anchor)
    }
    seats[free] = seat
    return (free, anchor)
  }

  mutating func leave(_ link: Int) {
    note(link, hasData: false)
    seats[link] = nil
  }

  mutating func note(_ link: Int, hasData: Bool) {
    guard let before = seats[link]?.hasData, before != hasData else { return }
    seats[link]?.hasData = hasData
    linksWithData += hasData ? 1 : -1
    if !hasData { seats[link]?.skipped = 0 }
  }

  /// Returns the offset from `now` to the middle of the longest stretch of an interval in which no
  /// other link has an anchor; the complete interval if there are no other links.
  private func offsetOfLargestGap(interval: Int, from now: Int) -> Int {
    var taken: [Int] = []
    for case let seat? in seats {
      // Relative to the new grid, the anchors of another grid repeat at the greatest common divisor
      // of the two intervals.
      let step = Self.greatestCommonDivisor(interval, seat.interval)
      let first = (seat.anchor(after: now) - now) % step
      taken += stride(from: first, to: interval, by: step)
    }
    taken.sort()
    guard let first = taken.first, let last = taken.last else { return interval }
    var best = (start: last, length: first + interval - last)
    for (start, end) in zip(taken, taken.dropFirst()) where end - start > best.length {
      best = (start, end - start)
    }
    return (best.start + best.length / 2) % interval
  }

  private static func greatestCommonDivisor(_ left: Int, _ right: Int) -> Int {
    var (left, right) = (left, right)
    while right != 0 { (left, right) = (right, left % right) }
    return left
  }
}

// MARK: - Packet pairs

extension RadioSchedule {
  /// Reserves the radio for a packet pair.
  ///
  /// - Parameters:
  ///   - begin: the start of the pair's first packet.
  ///   - microseconds: the duration of the pair.
  ///   - latest: the latest end, before the link's own next event.
  ///   - isFirst: whether the pair is the first pair of an event.
  /// - Returns: the reserved time, which includes the empty pairs of other links in between; `nil`
  ///   if the event ends here or is skipped.
  mutating func claim(
    _ link: Int, from begin: Int, microseconds: Int, latest: Int, isFirst: Bool
  ) -> Int? {
    guard let mine = seats[link] else { return nil }
    if isFirst, heldUntil > begin { return skip(link) }
    var end = begin + microseconds
    for seat in others(of: link) where !seat.hasData {
      if seat.anchor(after: begin - Self.space) < end { end += seat.emptyPair }
    }
    if end > latest {
      guard isFirst else { return nil }
      end = max(latest, begin + microseconds)
    }
    for seat in others(of: link) where seat.hasData {
      guard seat.anchor(after: begin - 1) < end + Self.space else { continue }
      guard isFirst else { return nil }
      guard seat.skipped <= mine.skipped else { return skip(link) }
    }
    seats[link]?.skipped = 0
    heldUntil = end
    airTime += microseconds
    return end - begin
  }

  private func others(of link: Int) -> some Sequence<Seat> {
    seats.indices.lazy.filter { $0 != link }.compactMap { seats[$0] }
  }

  private mutating func skip(_ link: Int) -> Int? {
    seats[link]?.skipped += 1
    return nil
  }
}

extension Duration {
  /// The duration in microseconds, rounded toward zero.
  var wholeMicroseconds: Int {
    let (seconds, attoseconds) = components
    return Int(seconds) * 1_000_000 + Int(attoseconds / 1_000_000_000_000)
  }
}
