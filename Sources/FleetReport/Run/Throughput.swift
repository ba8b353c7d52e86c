import OtaflashFleet

/// The number of bytes over time, estimated from events: the bytes of each successful update are
/// distributed evenly over its upload. The upload is assumed to end when the activation starts. The
/// bytes of failed attempts are not recorded.
package struct Throughput: Hashable, Sendable {
  package struct Transfer: Hashable, Sendable {
    package let from: WallClockTime
    package let until: WallClockTime
    package let bytes: Int
  }

  package let transfers: [Transfer]
  /// The number of interrupted or failed attempts with an adapter but without a byte count.
  package let untold: Int

  package var bytes: Int { transfers.reduce(0) { $0 + $1.bytes } }

  init(_ attempts: some Sequence<AttemptRecord>) {
    var transfers: [Transfer] = []
    var untold = 0
    for attempt in attempts where attempt.placed != nil {
      switch attempt.ending {
      case .updated(let figures):
        guard let end = attempt.activating ?? attempt.ended else { continue }
        let earliest = attempt.placed ?? attempt.began
        let from = end.advanced(by: .milliseconds(-max(figures.uploadMilliseconds, 1)))
        transfers.append(
          Transfer(from: max(from, min(earliest, end)), until: end, bytes: figures.bytes))
      case .failed, .returned(.holderGone), .returned(.stopping),
        .returned(.claimLost), .returned(.recalled), .returned(.adapterLost):
        untold += 1
      case nil where attempt.ended != nil: untold += 1
      case .current, .skipped, .returned, nil: break
      }
    }
    self.transfers = transfers
    self.untold = untold
  }

  /// Returns the mean rate in bytes per second for each of `bins` equal parts of a time span. Bytes
  /// outside of the span do not count.
  package func rates(over time: Range<WallClockTime>, bins: Int) -> [Double] {
    let (start, end) = (time.lowerBound.milliseconds, time.upperBound.milliseconds)
    let width = Double(max(end - start, 1)) / Double(bins)
    var bytes = [Double](repeating: 0, count: bins)
    for transfer in transfers {
      let from = Double(transfer.from.milliseconds - start) / width
      let until = max(Double(transfer.until.milliseconds - start) / width, from + 1e-9)
      let perBin = Double(transfer.bytes) / (until - from)
      guard until > 0, from < Double(bins) else { continue }
      let first = max(Int(from), 0)
      let last = min(Int(until), bins - 1)
      for bin in first...last {
        let share = min(until, Double(bin + 1)) - max(from, Double(bin))
        bytes[bin] += max(share, 0) * perBin
      }
    }
    return bytes.map { $0 * 1000 / width }
  }
}
