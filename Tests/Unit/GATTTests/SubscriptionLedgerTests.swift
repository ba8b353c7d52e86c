import OtaflashATT
import Testing

@testable import OtaflashGATT

/// Tests of the observers of values, and of the changes that the server must receive.
@Suite struct SubscriptionLedgerTests {
  private static let values = (1...8).map { AttributeHandle(UInt16($0) * 3) }

  /// A ledger with one written subscription for each value.
  private func subscribed() throws -> (SubscriptionLedger, [NotificationObserver]) {
    var ledger = SubscriptionLedger()
    let observers = Self.values.map { _ in NotificationObserver(capacity: 1) }
    for (value, observer) in zip(Self.values, observers) {
      ledger.add(observer, 1, on: value, descriptor: AttributeHandle(value.rawValue + 1))
      let needed = ledger.change(of: value)
      let change = try #require(needed)
      ledger.wrote(change, of: value)
    }
    return (ledger, observers)
  }

  /// A set would have a different order in each process, which would change the run of a seed.
  @Test func theServerIsInformedInTheOrderInWhichStreamsEnded() throws {
    var (ledger, observers) = try subscribed()
    let ended = Array(zip(Self.values, observers)).reversed()
    for (value, observer) in ended {
      let mustTell = ledger.remove(observer, from: value)
      #expect(mustTell)
    }
    var order: [AttributeHandle] = []
    while let value = ledger.takeUntold() { order.append(value) }
    #expect(order == ended.map(\.0))
  }

  @Test func observersAreEndedInTheOrderOfHandles() throws {
    var (ledger, observers) = try subscribed()
    let listeners = ledger.end()
    #expect(listeners.count == observers.count)
    #expect(zip(listeners, observers).allSatisfy { $0 === $1 })
  }
}
