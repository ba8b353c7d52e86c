import OtaflashDelta
import OtaflashDevices
import OtaflashUpdate

/// The predicted duration of an update from one image to another, on a device whose link was
/// measured. A sink supports no patches and writes no flash, so the result is calculated and marked
/// as calculated.
package struct ImageForecast {
  private let deliveries: [Delivery]

  /// Plans the deliveries of the new image to a device that runs the old image.
  ///
  /// - Parameter receiver: the streams that the device supports, and its page size.
  package init(_ pair: ImagePair, to receiver: ReceiverFacts) {
    let conditions = DeliveryConditions(bytesPerSecond: 1, pageSize: receiver.pageSize)
    guard let decoder = receiver.decoder else {
      let nothing = DecoderAbilities(
        hasCRLE: false, largestWindow: 0, largestLookahead: 0, pageSize: receiver.pageSize)
      var planner = DeliveryPlanner(
        image: pair.new.bytes, abilities: nothing, conditions: conditions)
      if receiver.keepsPages { planner.slot = pair.old.bytes }
      deliveries = [planner.plain]
      return
    }
    var planner = DeliveryPlanner(
      image: pair.new.bytes, abilities: decoder, conditions: conditions)
    if receiver.keepsPages { planner.slot = pair.old.bytes }
    deliveries = planner.deliveries(base: PatchBase(pair.old.bytes))
  }

  /// Returns the best delivery of each kind: uncompressed, compressed, patch.
  package func deliveries(under conditions: DeliveryConditions) -> [Delivery] {
    [Delivery.Content.plain, .compressed, .difference].compactMap { content in
      let kind = deliveries.filter { $0.content == content }
        .map { $0.predicted(under: conditions) }
      return kind.isEmpty ? nil : DeliveryPlanner.best(of: kind)
    }
  }
}
