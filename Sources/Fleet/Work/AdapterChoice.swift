/// The load of an adapter.
package struct AdapterLoad: Hashable, Sendable {
  package let id: String
  /// The number of running transfers.
  package let busy: Int
  /// The number of permitted transfers.
  package let places: Int

  package init(id: String, busy: Int, places: Int) {
    self.id = id
    self.busy = busy
    self.places = places
  }
}

/// An adapter that may be in range of a device, and the RSSI of the device's advertisements.
public struct AdapterHearing: Hashable, Sendable {
  /// The name of the adapter.
  public let adapter: String
  /// The RSSI in dBm; `nil` = unknown.
  public let rssi: Int?

  /// Creates the entry of an adapter.
  public init(adapter: String, rssi: Int? = nil) {
    self.adapter = adapter
    self.rssi = rssi
  }
}

/// The choice of an adapter for a device: among the adapters that have room for another transfer,
/// the adapter with the highest RSSI after a penalty for each running transfer.
package enum AdapterChoice: Hashable, Sendable {
  case on(String)
  /// All adapters in range of the device are in use.
  case full
  case notHeard

  /// The value for an unknown RSSI: the weakest value.
  private static let unknownStrength = -127
  /// The penalty of each running transfer on an adapter, in dB.
  private static let busyPenalty = 3

  package init(hearing: [AdapterHearing], loads: [AdapterLoad]) {
    let known = Dictionary(loads.map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
    let inRange = hearing.compactMap { entry in known[entry.adapter].map { (entry, $0) } }
    guard !inRange.isEmpty else {
      self = .notHeard
      return
    }
    let free = inRange.filter { $0.1.busy < $0.1.places }
    let best = free.max { left, right in
      let scores = [left, right].map {
        ($0.0.rssi ?? Self.unknownStrength) - Self.busyPenalty * $0.1.busy
      }
      return scores[0] == scores[1] ? left.1.id > right.1.id : scores[0] < scores[1]
    }
    self = best.map { .on($0.1.id) } ?? .full
  }
}
