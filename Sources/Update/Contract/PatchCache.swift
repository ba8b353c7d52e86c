import OtaflashDelta
import OtaflashGATT
import Synchronization

/// What was made to be sent, of the last few images and bases: devices of one kind want the same,
/// and making it takes a while. Whoever comes while it is being made waits for it.
final class PatchCache: Sendable {
  /// What a stream depends on, beside the size of its parts.
  struct Pair: Hashable, Sendable {
    let image: ContentIdentity
    /// What runs, whether its bytes are here or not.
    let base: ContentIdentity?
    let abilities: DecoderAbilities
  }

  /// The streams of one pair, made by one task at a time.
  final class Shelf: Sendable {
    let gate = SerialGate(waitersMaximum: PatchCache.waitersMaximum)
    private let streams = Mutex<[DeliveryPlanner.Recipe: Delivery]>([:])

    /// What is kept; else what is made, which is kept where it is a stream.
    func stream(_ recipe: DeliveryPlanner.Recipe, _ make: () -> Delivery) -> Delivery {
      if let kept = streams.withLock({ $0[recipe] }) { return kept }
      let made = make()
      if made.content != .plain { streams.withLock { $0[recipe] = made } }
      return made
    }
  }

  private static let capacity = 4
  /// More updates at once than a machine has links for.
  private static let waitersMaximum = 4096

  private let kept = Mutex<[(pair: Pair, shelf: Shelf)]>([])

  func shelf(for pair: Pair) -> Shelf {
    kept.withLock { kept in
      if let found = kept.first(where: { $0.pair == pair }) { return found.shelf }
      if kept.count == Self.capacity { kept.removeFirst() }
      let shelf = Shelf()
      kept.append((pair, shelf))
      return shelf
    }
  }
}
