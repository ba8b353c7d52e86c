import OtaflashATT
import OtaflashGATT

/// The links of a controller, derived from its events. The type has no side effects.
struct LinkTable: Sendable {
  struct Entry: Equatable, Sendable {
    let peer: BluetoothAddress
    var timing: ConnectionTiming
    var payload: UInt16?
    var phy: PHY?
  }

  /// The links by connection handle. Handles have 12 bits, which limits the number of entries.
  private var entries: [UInt16: Entry] = [:]

  /// Returns the link with this handle if the peer of the link is `peer`; the handle may also
  /// belong to a link of another adapter.
  func entry(_ handle: UInt16, to peer: BluetoothAddress) -> Entry? {
    entries[handle].flatMap { $0.peer == peer ? $0 : nil }
  }

  mutating func take(_ event: HCIEvent) {
    switch event {
    case .connected(let handle, let peer, let timing):
      entries[handle] = Entry(peer: peer, timing: timing)
    case .updated(let handle, .success, let timing): entries[handle]?.timing = timing
    case .dataLengthChanged(let handle, let bytes):
      // A payload out of range is ignored.
      guard LinkFacts.linkLayerPayloads.contains(Int(bytes)) else { return }
      entries[handle]?.payload = bytes
    case .phyUpdated(let handle, .success, let transmit, _): entries[handle]?.phy = transmit
    case .disconnected(let handle): entries[handle] = nil
    case .commandComplete, .commandStatus, .updated, .phyUpdated, .other: break
    }
  }
}

extension LinkTable.Entry {
  var facts: LinkFacts {
    LinkFacts(
      phy: phy, connectionInterval: timing.intervalDuration,
      linkLayerPayload: payload.map(Int.init),
      peripheralLatency: Int(timing.latency),
      supervisionTimeout: .milliseconds(10 * Int(timing.supervisionTimeout)))
  }
}

extension ConnectionTiming {
  var intervalDuration: Duration { .microseconds(1250 * Int(interval)) }

  /// The interval as text, such as `15 ms`.
  var text: String { Self.text(interval) }

  /// Returns an interval in units of 1.25 ms as text in milliseconds, with at most two decimals and
  /// without trailing zeros.
  static func text(_ units: UInt16) -> String {
    let hundredths = Int(units) * 125
    let (whole, rest) = (hundredths / 100, hundredths % 100)
    guard rest > 0 else { return "\(whole) ms" }
    return rest.isMultiple(of: 10) ? "\(whole).\(rest / 10) ms" : "\(whole).\(rest) ms"
  }
}
