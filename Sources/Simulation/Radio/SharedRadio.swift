import OtaflashATT
import OtaflashGATT
import Synchronization

/// The radio of one simulated adapter, which all its links share (see `RadioSchedule` for the
/// rules). Adapters do not interfere with each other, because they hop over 37 channels, each in
/// its own order.
///
/// The links also share the controller's buffers for data packets (LE Read Buffer Size; Core 5.4,
/// Vol 4, Part E, 7.8.2): `RadioModel.controllerBuffers` is the number of buffers per adapter. The
/// host assigns an equal share to each link that has data, as Linux does (`hci_quote_sent`). The
/// host queue above them (`hostQueueBytes`) is separate for each link, as for the kernel's sockets.
package final class SharedRadio: Sendable {
  private struct State {
    var schedule = RadioSchedule()
    var links: [Int: SimulatedConnection] = [:]
    var isPresent = true
  }

  private let state = Mutex(State())

  package init() {}

  /// The duration of all packet pairs with data so far, without the empty pairs of idle links.
  package var airTime: Duration { .microseconds(state.withLock { $0.schedule.airTime }) }

  /// The number of open links.
  package var linkCount: Int { state.withLock { $0.schedule.linkCount } }

  package var isPresent: Bool { state.withLock { $0.isPresent } }

  /// Unplugs the adapter, or plugs it in again. Unplugging ends its links: the host detects it
  /// immediately, the devices after their supervision timeout.
  package func setPresent(_ isPresent: Bool) {
    let links = state.withLock { state in
      state.isPresent = isPresent
      return isPresent ? [] : state.links.sorted { $0.key < $1.key }.map(\.value)
    }
    for link in links {
      link.vanish(
        .central,
        with: .failed(errno: 19, reason: "The simulated adapter was unplugged; plug it in again."))
    }
  }

  // MARK: For the links

  func join(_ connection: SimulatedConnection, at now: Int) -> (link: Int, anchor: Int) {
    state.withLock { state in
      let seat = state.schedule.join(connection.model, at: now)
      state.links[seat.link] = connection
      return seat
    }
  }

  func leave(_ link: Int) {
    state.withLock { state in
      state.schedule.leave(link)
      state.links[link] = nil
    }
  }

  func note(_ link: Int, hasData: Bool) {
    state.withLock { $0.schedule.note(link, hasData: hasData) }
  }

  /// Returns the number of packets that a link may send per event, out of the adapter's `buffers`.
  func share(of buffers: Int) -> Int {
    state.withLock { max(buffers / max($0.schedule.linksWithData, 1), 1) }
  }

  /// Reserves the radio for a packet pair, as `RadioSchedule.claim` does.
  func claim(
    _ link: Int, from begin: Int, microseconds: Int, latest: Int, isFirst: Bool
  ) -> Int? {
    state.withLock {
      $0.schedule.claim(
        link, from: begin, microseconds: microseconds, latest: latest, isFirst: isFirst)
    }
  }
}
