/// An adapter as the choice among several sees it.
package struct AdapterLoad: Hashable, Sendable {
  package let id: String
  /// Transfers that run on it.
  package let busy: Int
  /// Transfers that may.
  package let places: Int

  package init(id: String, busy: Int, places: Int) {
    self.id = id
    self.busy = busy
    self.places = places
  }
}

/// Which adapter hears a device, and how strongly.
public struct AdapterHearing: Hashable, Sendable {
  public let adapter: String
  /// In dBm; `nil` = nobody knows.
  public let rssi: Int?

  public init(adapter: String, rssi: Int? = nil) {
    self.adapter = adapter
    self.rssi = rssi
  }
}

/// The adapter for a device: the one that hears it best among those with a free place.
package enum AdapterChoice: Hashable, Sendable {
  case on(String)
  /// All that hear it are full.
  case full
  case notHeard

  /// What is taken for a strength that nobody knows: the weakest that can be told.
  private static let unknownStrength = -127
  /// Each transfer that runs on an adapter makes it that much less attractive, in dB.
  private static let busyPenalty = 3

  package init(hearing: [AdapterHearing], loads: [AdapterLoad]) {
    let known = Dictionary(loads.map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
    let heard = hearing.compactMap { heard in known[heard.adapter].map { (heard, $0) } }
    guard !heard.isEmpty else {
      self = .notHeard
      return
    }
    let free = heard.filter { $0.1.busy < $0.1.places }
    let best = free.max { left, right in
      let scores = [left, right].map {
        ($0.0.rssi ?? Self.unknownStrength) - Self.busyPenalty * $0.1.busy
      }
      return scores[0] == scores[1] ? left.1.id > right.1.id : scores[0] < scores[1]
    }
    self = best.map { .on($0.1.id) } ?? .full
  }
}
