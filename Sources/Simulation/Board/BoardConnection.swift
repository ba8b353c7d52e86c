import OtaflashGATT

/// A connection as the board's firmware sees it, whatever carries it.
protocol BoardConnection: AnyObject, Sendable {
  /// The board's end.
  var boardLink: any Link { get }
  /// PDUs that have arrived, both directions together, where faults are counted in them.
  var pdusDelivered: Int { get }

  /// The radio falls silent.
  func cut()
  /// The board is gone without a word.
  func boardVanishes()
  /// The adapter at the host's end is gone.
  func hostVanishes(with loss: LinkLoss)
}

extension SimulatedConnection: BoardConnection {
  var boardLink: any Link { peripheral }

  func boardVanishes() { vanish(.peripheral, with: .closedLocally) }

  func hostVanishes(with loss: LinkLoss) { vanish(.central, with: loss) }
}

/// A link that was made elsewhere, such as by a real radio. Nothing of the modelled radio applies
/// to it, and it can only be closed: silence is not ours to arrange.
final class AttachedConnection: BoardConnection {
  let boardLink: any Link
  private let over = WakeSignal()

  init(_ link: any Link) { boardLink = link }

  var pdusDelivered: Int { 0 }

  func cut() { close() }

  func boardVanishes() { close() }

  func hostVanishes(with loss: LinkLoss) { close() }

  /// Ends the link, and the wait of whoever attached it.
  func close() {
    boardLink.close()
    over.signal()
  }

  func waitUntilOver() async { await over.wait() }
}
