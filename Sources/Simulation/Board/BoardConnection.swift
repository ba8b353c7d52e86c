import OtaflashGATT

/// A connection of a board, independent of the transport.
protocol BoardConnection: AnyObject, Sendable {
  /// The link of the board's end.
  var boardLink: any Link { get }
  /// The number of PDUs that have arrived, in both directions together; 0 for a link from outside
  /// the simulation.
  var pdusDelivered: Int { get }

  /// Stops the radio of the connection.
  func cut()
  /// Ends the connection at the board without a termination PDU.
  func boardVanishes()
  /// Ends the connection at the host, because the adapter disappeared; the host detects `loss`.
  func hostVanishes(with loss: LinkLoss)
}

extension SimulatedConnection: BoardConnection {
  var boardLink: any Link { peripheral }

  func boardVanishes() { vanish(.peripheral, with: .closedLocally) }

  func hostVanishes(with loss: LinkLoss) { vanish(.central, with: loss) }
}

/// A link from outside the simulation, such as a real radio. The modeled radio does not apply to
/// this link, and the simulation can only close the link, not silence it.
final class AttachedConnection: BoardConnection {
  let boardLink: any Link
  private let over = WakeSignal()

  init(_ link: any Link) { boardLink = link }

  var pdusDelivered: Int { 0 }

  func cut() { close() }

  func boardVanishes() { close() }

  func hostVanishes(with loss: LinkLoss) { close() }

  /// Ends the link and the wait of `SimulatedBoard.serve`.
  func close() {
    boardLink.close()
    over.signal()
  }

  func waitUntilOver() async { await over.wait() }
}
