/// A request that somebody put, and nobody has answered yet.
package struct PendingOrder: Hashable, Sendable {
  package let number: Int
  package let order: FleetOrder
  /// Who put it, and why; `nil` = that was not recorded.
  package let action: OperatorAction?

  package init(number: Int, order: FleetOrder, action: OperatorAction? = nil) {
    self.number = number
    self.order = order
    self.action = action
  }
}

/// What the answer to a request says; everything else is why it was refused.
package enum OrderAnswer {
  package static let done = "done"
}

/// Where people's requests for a run come from, such as another terminal.
package protocol OrderSource: Sendable {
  /// Those that nobody has answered, the oldest first.
  func pending() async throws(StorageFault) -> [PendingOrder]

  /// Tells whoever asked what became of it, in words.
  func answer(_ pending: PendingOrder, _ words: String) async throws(StorageFault)
}
