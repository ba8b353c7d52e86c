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

  /// Of the image's octets, the share that a stream may have and still save something.
  private static let worthwhile = 0.9

  var policy: DeltaPolicy
  /// `nil` = the device takes no streams, or none that are made here.
  var abilities: DecoderAbilities?
  var conditions: DeliveryConditions
  /// What the device says that it runs; `nil` = it does not.
  var running: ContentIdentity?
  /// The octets of what runs, where they are here.
  var base: [UInt8]?
  /// Octets of the image itself that the device holds of an earlier transfer.
  var held = 0
  /// The stream of which the device holds a part.
  var begun: ContentIdentity?
  /// Why patches were given up in this update.
  var givenUp: PatchObstacle?

  /// Why there can be no patch, as far as is known before one was made.
  var obstacle: PatchObstacle? {
    if let givenUp { return givenUp }
    guard abilities != nil else { return .notUnderstood }
    guard let running else { return .baseNotTold }
    return base == nil ? .baseUnknown(running) : nil
  }

  /// - Parameter made: keeps what is made for the devices to come.
  func verdict(for image: [UInt8], keepingIn made: MadeStreams? = nil) -> Verdict {
    if policy == .never { return .image(because: nil) }
    if policy == .require, let obstacle { return .refuse(obstacle) }
    if let givenUp { return .image(because: givenUp) }
    guard let abilities else { return .image(because: .notUnderstood) }
    let planner = DeliveryPlanner(image: image, abilities: abilities, conditions: conditions)
    if let begun,
      let again = planner.again(size: begun.size, crc32: begun.crc32, base: base),
      again.content == .difference || policy == .auto
    {
      return .stream(again, because: again.content == .difference ? nil : obstacle)
    }
    if policy == .require, let base {
      return .stream(planner.composed(against: PatchBase(base)), because: nil)
    }
    let best = delivery(by: planner, of: image, abilities, made)
    return judged(best, against: planner.plain)
  }

  private func delivery(
    by planner: DeliveryPlanner, of image: [UInt8], _ abilities: DecoderAbilities,
    _ made: MadeStreams?
  ) -> Delivery {
    guard let made else { return planner.best(base: base) }
    let wish = MadeStreams.Wish(
      image: ContentIdentity(of: image), base: base == nil ? nil : running, abilities: abilities,
      conditions: conditions)
    return made.delivery(for: wish) { planner.best(base: base) }
  }

  private func judged(_ best: Delivery, against plain: Delivery) -> Verdict {
    let size = plain.octets.count
    guard best.content != .plain, Double(best.octets.count) < Self.worthwhile * Double(size) else {
      return .image(because: obstacle ?? .noGain(octets: best.octets.count))
    }
    let left = Double(size - held) / Double(size)
    if held > 0, plain.forecast.expectedSeconds * left <= best.forecast.expectedSeconds {
      return .image(because: .restIsSooner(octets: size - held))
    }
    guard best.content == .compressed else { return .stream(best, because: nil) }
    return .stream(best, because: obstacle ?? .noGain(octets: best.octets.count))
  }
}
