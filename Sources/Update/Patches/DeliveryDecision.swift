import OtaflashDelta
import OtaflashFirmware

/// Decides which content a device receives, and states the reason if it is not a patch. All
/// properties of the device, the link and the caller are inputs.
struct DeliveryDecision {
  /// The result.
  enum Verdict {
    /// The uncompressed image; `because` is `nil` if no other content was requested.
    case image(because: PatchObstacle?)
    /// A stream; `because` is `nil` for a patch.
    case stream(Delivery, because: PatchObstacle?)
    /// A patch was required, but no patch can be sent.
    case refuse(PatchObstacle)
  }

  /// A verdict with the obstacle of a given patch.
  struct Decision {
    let verdict: Verdict
    /// The reason why the given patch is not sent; `nil` if it is sent, or if no patch was given.
    var unused: PatchObstacle?
  }

  /// The maximum size, in bytes, of a base that a device reports but that is not stored on the
  /// host.
  private static let baseMaximum = 1 << 26

  var policy: DeltaPolicy
  /// The abilities of the device's decoder; `nil` = the device supports no stream that this host
  /// creates.
  var abilities: DecoderAbilities?
  var conditions: DeliveryConditions
  /// The base of patches that the device reports; `nil` = no base.
  var running: ContentIdentity?
  /// The reason why the device reports no base.
  var absence = PatchObstacle.baseNotTold
  /// The bytes of the running image, if available.
  var base: [UInt8]?
  /// A prebuilt patch.
  var given: PrebuiltPatch?
  /// The number of bytes of the image itself that the device holds from an earlier transfer.
  var held = 0
  /// The stream of which the device holds a part, and the number of bytes that it holds.
  var begun: ContentIdentity?
  var begunOffset = 0
  /// The reason why patches were abandoned in this update.
  var givenUp: PatchObstacle?

  /// The reason why no patch is possible, as far as the reason is known before a patch is created.
  var obstacle: PatchObstacle? {
    if let givenUp { return givenUp }
    guard abilities != nil else { return .notUnderstood }
    guard let running else { return absence }
    if policy == .require, let given { return obstacle(to: given) }
    return base == nil ? .baseUnknown(running) : nil
  }

  /// Returns the reason why the given patch cannot be sent, as far as the reason is known before
  /// the patch is applied.
  private func obstacle(to given: PrebuiltPatch) -> PatchObstacle? {
    guard let abilities else { return .notUnderstood }
    guard let running else { return absence }
    if let expected = given.base, expected != running {
      return .otherBase(expected: expected, running: running)
    }
    return abilities.takes(given.codec) ? nil : .givenNotUnderstood("\(given.codec)")
  }

  func verdict(for image: [UInt8]) -> Verdict { decision(for: image).verdict }

  /// Returns the decision about the content for an image.
  ///
  /// - Parameter prepare: passes earlier results and a stop condition to the planner.
  func decision(
    for image: [UInt8], _ prepare: (inout DeliveryPlanner) -> Void = { _ in }
  ) -> Decision {
    if policy == .never { return Decision(verdict: .image(because: nil)) }
    if policy == .require, let obstacle { return Decision(verdict: .refuse(obstacle)) }
    if let givenUp { return Decision(verdict: .image(because: givenUp)) }
    guard let abilities else { return Decision(verdict: .image(because: .notUnderstood)) }
    var planner = DeliveryPlanner(image: image, abilities: abilities, conditions: conditions)
    prepare(&planner)
    guard let given else { return Decision(verdict: verdict(for: image, by: planner)) }
    switch ready(given, by: planner) {
    case .success(let delivery): return Decision(verdict: .stream(delivery, because: nil))
    case .failure(let obstacle) where policy == .require:
      return Decision(verdict: .refuse(obstacle.value))
    case .failure(let obstacle):
      return Decision(verdict: verdict(for: image, by: planner), unused: obstacle.value)
    }
  }

  private struct Unsuitable: Error {
    let value: PatchObstacle
  }

  private func ready(
    _ given: PrebuiltPatch, by planner: DeliveryPlanner
  ) -> Result<Delivery, Unsuitable> {
    if let obstacle = obstacle(to: given) { return .failure(Unsuitable(value: obstacle)) }
    guard let running else { return .failure(Unsuitable(value: absence)) }
    let unsuitable = Unsuitable(value: .givenForAnother(running: running))
    guard base != nil || running.size <= Self.baseMaximum else { return .failure(unsuitable) }
    do throws(PatchFault) {
      return .success(
        try planner.ready(
          given.bytes, base: base ?? [UInt8](repeating: 0, count: running.size),
          isBaseKnown: base != nil))
    } catch {
      return .failure(unsuitable)
    }
  }

  private func verdict(for image: [UInt8], by planner: DeliveryPlanner) -> Verdict {
    if let begun, let again = planner.again(size: begun.size, crc32: begun.crc32, base: base) {
      if again.content == .difference { return .stream(again, because: nil) }
      let rest = max(0, begun.size - begunOffset)
      // A base found in the meantime may permit a patch that is smaller than the rest of the
      // stream.
      if policy == .auto,
        base == nil || again.isSooner(last: rest, than: planner.best(base: base))
      {
        return .stream(again, because: obstacle ?? .restIsSooner(bytes: rest))
      }
    }
    if policy == .require, let base {
      return .stream(planner.composed(against: PatchBase(base)), because: nil)
    }
    return judged(planner.best(base: base), against: planner.plain)
  }

  private func judged(_ best: Delivery, against plain: Delivery) -> Verdict {
    let size = plain.bytes.count
    guard best.content != .plain, best.isWorthwhile(against: plain) else {
      return .image(because: obstacle ?? .noGain(bytes: best.bytes.count))
    }
    if held > 0, plain.isSooner(last: size - held, than: best) {
      return .image(because: .restIsSooner(bytes: size - held))
    }
    guard best.content == .compressed else { return .stream(best, because: nil) }
    return .stream(best, because: obstacle ?? .noGain(bytes: best.bytes.count))
  }
}

extension Delivery {
  /// Returns whether the last `count` bytes of this delivery take no longer than the complete
  /// `other` delivery.
  fileprivate func isSooner(last count: Int, than other: Delivery) -> Bool {
    let left = Double(count) / Double(bytes.count)
    return forecast.expectedSeconds * left <= other.forecast.expectedSeconds
  }
}
