import OtaflashDelta
import OtaflashGATT
import Synchronization

/// The streams for the last four combinations of image, base and decoder: devices of one kind need
/// the same stream, and its creation takes time. A task waits for a stream that another task is
/// creating.
final class PatchCache: Sendable {
  /// The inputs of a stream, except the size of its parts.
  struct Pair: Hashable, Sendable {
    let image: ContentIdentity
    /// The running image; its bytes may be unavailable.
    let base: ContentIdentity?
    let abilities: DecoderAbilities
  }

  /// The streams of one pair. Only one task at a time creates a stream of the pair.
  final class Shelf: Sendable {
    let gate = SerialGate(waitersMaximum: PatchCache.waitersMaximum)
    private let streams = Mutex<[DeliveryPlanner.Recipe: Delivery]>([:])

    /// Returns the cached stream if there is one; otherwise creates the delivery, and caches it if
    /// it is a stream.
    func stream(_ recipe: DeliveryPlanner.Recipe, _ make: () -> Delivery) -> Delivery {
      if let kept = streams.withLock({ $0[recipe] }) { return kept }
      let made = make()
      if made.content != .plain { streams.withLock { $0[recipe] = made } }
      return made
    }
  }

  /// The maximum number of pairs; the pair that was added first is then removed.
  private static let capacity = 4
  /// The maximum number of waiting updates, which exceeds the number of links of one host.
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
