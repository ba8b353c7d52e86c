import OtaflashDelta
import OtaflashDevices
import OtaflashUpdate

/// What one image would take instead of another on a device whose link was measured: a sink takes
/// no patches and writes no flash, so this is arithmetic, and said to be.
package struct ImageForecast {
  private let deliveries: [Delivery]

  /// - Parameter receiver: which streams it takes, in which pages.
  package init(_ pair: ImagePair, to receiver: ReceiverFacts) {
    let conditions = DeliveryConditions(bytesPerSecond: 1, pageSize: receiver.pageSize)
    guard let decoder = receiver.decoder else {
      let nothing = DecoderAbilities(
        hasCRLE: false, largestWindow: 0, largestLookahead: 0, pageSize: receiver.pageSize)
      deliveries = [
        DeliveryPlanner(image: pair.new.bytes, abilities: nothing, conditions: conditions).plain
      ]
      return
    }
    let planner = DeliveryPlanner(
      image: pair.new.bytes, abilities: decoder, conditions: conditions)
    deliveries = planner.deliveries(base: PatchBase(pair.old.bytes))
  }

  /// The best of each kind: as it is, compressed, a patch.
  package func deliveries(under conditions: DeliveryConditions) -> [Delivery] {
    [Delivery.Content.plain, .compressed, .difference].compactMap { content in
      let kind = deliveries.filter { $0.content == content }
        .map { $0.predicted(under: conditions) }
      return kind.isEmpty ? nil : DeliveryPlanner.best(of: kind)
    }
  }
}
