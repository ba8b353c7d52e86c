import OtaflashDelta
import OtaflashFirmware

/// What is sent so that a device gets an image, and why it is no patch. Pure: everything that a
/// device, a link and a caller have to say to it is in here.
struct OTADeliveryDecision {
  /// What was decided.
  enum Verdict {
    /// The image as it is; `because` is `nil` where nobody asked for more.
    case image(because: PatchObstacle?)
    /// A stream; `because` is `nil` where it is a patch.
    case stream(Delivery, because: PatchObstacle?)
    /// A patch was required, and none can be sent.
    case refuse(PatchObstacle)
  }

  /// A verdict, and what became of a patch that was given.
  struct Decision {
    let verdict: Verdict
    /// Why it is not sent.
    var unused: PatchObstacle?
  }

  /// A base whose bytes are not here is as long as the device says; none has more.
  private static let baseMaximum = 1 << 26

  var policy: DeltaPolicy
  /// `nil` = the device takes no streams, or none that are made here.
  var abilities: DecoderAbilities?
  var conditions: DeliveryConditions
  /// What the device says that patches can be made against; `nil` = nothing.
  var running: ContentIdentity?
  /// Why it says nothing, where it does.
  var absence = PatchObstacle.baseNotTold
  /// The bytes of what runs, where they are here.
  var base: [UInt8]?
  /// A patch that was made elsewhere.
  var given: PrebuiltPatch?
  /// Bytes of the image itself that the device holds of an earlier transfer.
  var held = 0
  /// The stream of which the device holds a part, and how many of its bytes.
  var begun: ContentIdentity?
  var begunOffset = 0
  /// Why patches were given up in this update.
  var givenUp: PatchObstacle?

  /// Why there can be no patch, as far as is known before one was made.
  var obstacle: PatchObstacle? {
    if let givenUp { return givenUp }
    guard abilities != nil else { return .notUnderstood }
    guard let running else { return absence }
    if policy == .require, let given { return obstacle(to: given) }
    return base == nil ? .baseUnknown(running) : nil
  }

  /// Why the patch that was given cannot be sent, as far as is known before it was applied.
  private func obstacle(to given: PrebuiltPatch) -> PatchObstacle? {
    guard let abilities else { return .notUnderstood }
    guard let running else { return absence }
    if let expected = given.base, expected != running {
      return .otherBase(expected: expected, running: running)
    }
    return abilities.takes(given.codec) ? nil : .givenNotUnderstood("\(given.codec)")
  }

  func verdict(for image: [UInt8]) -> Verdict { decision(for: image).verdict }

  /// - Parameter prepare: tells the planner what was made before, and when to stop.
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
      // A base that was found since may make a patch of less than what is left.
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
  /// Whether its last bytes are there no later than all of another.
  fileprivate func isSooner(last count: Int, than other: Delivery) -> Bool {
    let left = Double(count) / Double(bytes.count)
    return forecast.expectedSeconds * left <= other.forecast.expectedSeconds
  }
}
