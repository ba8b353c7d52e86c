import OtaflashATT
import OtaflashGATT

/// What a controller has said of its links. Pure.
struct LinkTable: Sendable {
  struct Entry: Equatable, Sendable {
    let peer: BluetoothAddress
    var timing: ConnectionTiming
    var payload: UInt16?
    var phy: PHY?
  }

  /// Handles are 12 bits, so there are never more entries than that.
  private var entries: [UInt16: Entry] = [:]

  /// The link with this handle, if it is the one to `peer`: a handle alone may be another
  /// adapter's.
  func entry(_ handle: UInt16, to peer: BluetoothAddress) -> Entry? {
    entries[handle].flatMap { $0.peer == peer ? $0 : nil }
  }

  mutating func take(_ event: HCIEvent) {
    switch event {
    case .connected(let handle, let peer, let timing):
      entries[handle] = Entry(peer: peer, timing: timing)
    case .updated(let handle, .success, let timing): entries[handle]?.timing = timing
    case .dataLengthChanged(let handle, let bytes):
      // What no packet can carry tells nothing.
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

  /// `15 ms`.
  var text: String { Self.text(interval) }

  /// The numbers of 1.25 ms with at most two decimals, and none that say nothing.
  static func text(_ units: UInt16) -> String {
    let hundredths = Int(units) * 125
    let (whole, rest) = (hundredths / 100, hundredths % 100)
    guard rest > 0 else { return "\(whole) ms" }
    return rest.isMultiple(of: 10) ? "\(whole).\(rest / 10) ms" : "\(whole).\(rest) ms"
  }
}
