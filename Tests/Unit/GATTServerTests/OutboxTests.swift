import OtaflashATT
import Testing

@testable import OtaflashGATT

@Suite struct OutboxTests {
  private let handle = AttributeHandle(3)
  private let deadline = LinkInstant(elapsed: .seconds(30))

  private func subscribed(_ configuration: ClientConfiguration) -> ServerOutbox {
    var outbox = ServerOutbox(connection: ConnectionID(rawValue: 1), valuesMaximum: 4)
    _ = outbox.handlingEnded([.configured(handle, configuration)])
    return outbox
  }

  @Test func valuesWaitWhileAPDUIsHandled() {
    var outbox = subscribed(.notification)
    outbox.handlingBegan()
    let outcome = outbox.offer(.notification, handle, [1])
    let during = outbox.next(confirmationDeadline: deadline)
    _ = outbox.handlingEnded([.respond(.write)])
    let first = outbox.next(confirmationDeadline: deadline)
    let second = outbox.next(confirmationDeadline: deadline)
    #expect(outcome == .queued)
    #expect(during == nil)
    #expect(first == .response(.write))
    #expect(second == .notification(handle, value: [1]))
  }

  @Test func unsubscribingDropsQueuedValues() {
    var outbox = subscribed([.notification, .indication])
    _ = outbox.offer(.notification, handle, [1])
    _ = outbox.offer(.indication, handle, [2])
    _ = outbox.handlingEnded([.configured(handle, .indication)])
    let first = outbox.next(confirmationDeadline: deadline)
    let second = outbox.next(confirmationDeadline: deadline)
    #expect(first == .indication(handle, value: [2]))
    #expect(second == nil)
    #expect(outbox.confirmationDeadline == deadline)
  }

  @Test func aSmallerMTUDropsValuesThatNoLongerFit() {
    var outbox = subscribed(.notification)
    _ = outbox.handlingEnded([.mtuChanged(.maximum)])
    _ = outbox.offer(.notification, handle, [UInt8](repeating: 1, count: 21))
    _ = outbox.offer(.notification, handle, [UInt8](repeating: 2, count: 20))
    _ = outbox.handlingEnded([.mtuChanged(.default)])
    let first = outbox.next(confirmationDeadline: deadline)
    let second = outbox.next(confirmationDeadline: deadline)
    #expect(first == .notification(handle, value: [UInt8](repeating: 2, count: 20)))
    #expect(second == nil)
  }

  @Test func anUnexpectedConfirmationHasNoEffect() {
    var outbox = subscribed(.indication)
    let events = outbox.handlingEnded([.confirmed])
    #expect(events.isEmpty)
  }
}
