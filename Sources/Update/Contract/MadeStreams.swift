import OtaflashDelta
import OtaflashFirmware
import Synchronization

/// The last few things that were made to be sent: devices of one kind want the same, and making it
/// takes a while.
final class MadeStreams: Sendable {
  /// What a delivery depends on.
  struct Wish: Equatable, Sendable {
    let image: ContentIdentity
    let base: ContentIdentity?
    let abilities: DecoderAbilities
    let conditions: DeliveryConditions
  }

  private static let capacity = 4

  private let kept = Mutex<[(wish: Wish, delivery: Delivery)]>([])

  /// The delivery for a wish; what `make` makes where it is not kept.
  func delivery(for wish: Wish, _ make: () -> Delivery) -> Delivery {
    if let found = kept.withLock({ $0.first { $0.wish == wish }?.delivery }) { return found }
    let delivery = make()
    kept.withLock { kept in
      if kept.count == Self.capacity { kept.removeFirst() }
      kept.append((wish, delivery))
    }
    return delivery
  }
}
