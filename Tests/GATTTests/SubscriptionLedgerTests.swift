import OtaflashATT
import Testing

@testable import OtaflashGATT

/// Who listens to what, and what the server still has to be told.
@Suite struct SubscriptionLedgerTests {
  private static let values = (1...8).map { AttributeHandle(UInt16($0) * 3) }

  /// A ledger in which one stream a value stands, told to the server.
  private func told() throws -> (SubscriptionLedger, [NotificationObserver]) {
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

  /// The order of a set would be another in each process, and a seed's run with it.
  @Test func theServerIsToldInTheOrderInWhichStreamsEnded() throws {
    var (ledger, observers) = try told()
    let ended = Array(zip(Self.values, observers)).reversed()
    for (value, observer) in ended {
      let mustTell = ledger.remove(observer, from: value)
      #expect(mustTell)
    }
    var order: [AttributeHandle] = []
    while let value = ledger.takeUntold() { order.append(value) }
    #expect(order == ended.map(\.0))
  }

  @Test func whoListenedIsToldOfTheEndInTheOrderOfHandles() throws {
    var (ledger, observers) = try told()
    let listeners = ledger.end()
    #expect(listeners.count == observers.count)
    #expect(zip(listeners, observers).allSatisfy { $0 === $1 })
  }
}
