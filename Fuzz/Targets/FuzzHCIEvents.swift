import OtaflashATT
import OtaflashGATT

@testable import OtaflashBlueZ

/// Events of a controller are parsed as strictly as data from the air, and from the parameters of
/// each link, the best size of PDUs can be calculated.
func fuzzHCIEvents(_ input: [UInt8]) {
  var table = LinkTable()
  var links: [UInt16: BluetoothAddress] = [:]
  for packet in messages(input) {
    let event: HCIEvent
    do throws(MgmtDecodeFault) { event = try HCIEvent(decoding: packet) } catch { continue }
    table.take(event)
    for facts in links.compactMap({ table.entry($0.key, to: $0.value)?.facts }) {
      _ = PDUSizing(facts).bestSize(mtu: .maximum)
    }
    switch event {
    case .connected(let handle, let peer, let timing):
      guard let facts = table.entry(handle, to: peer)?.facts else {
        preconditionFailure("the link to \(peer) is unknown")
      }
      precondition(facts.connectionInterval == timing.intervalDuration)
      links[handle] = peer
      _ = timing.text
    case .disconnected, .updated, .dataLengthChanged, .phyUpdated, .other: break
    case .commandComplete(_, let status, _), .commandStatus(_, let status): _ = status.description
    }
  }
}
