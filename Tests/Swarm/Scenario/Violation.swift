import OtaflashFirmware
import OtaflashSimulation
import OtaflashUpdate

/// What no fault may lead to.
public enum Violation: Equatable, Sendable, CustomStringConvertible {
  /// What runs is neither the image that ran before nor the one that was sent.
  case mixedImage
  /// Success was said, and something else runs.
  case falseSuccess
  /// The update, or a wait in it, never ended.
  case hang(String)
  /// The device did what flash does not permit.
  case flashRule(FlashFault)
  /// A retry went on beyond its bound.
  case unbounded(String)
  /// What the update told does not fit together.
  case events(String)
  /// Success was said although the device lied all the way.
  case credulity
  /// A new device was said to hold a part already.
  case inventedResume(Int)
  /// Nothing stood in the way for ever, and the update gave up.
  case needlessFailure(String)
  /// The device was left so that a later update without faults failed.
  case incurable(String)
  /// The scenario could not be set up.
  case setting(String)

  public var isHang: Bool { if case .hang = self { true } else { false } }

  public var description: String {
    switch self {
    case .mixedImage: "what runs is neither the old nor the new image"
    case .falseSuccess: "success was said, but the new image does not run"
    case .hang(let cause): "it never ended: \(cause)"
    case .flashRule(let fault): "the device broke a rule of flash: \(fault)"
    case .unbounded(let what): "beyond its bound: \(what)"
    case .events(let what): "the events contradict each other: \(what)"
    case .credulity: "success was said although the device kept lying"
    case .inventedResume(let offset): "a new device was taken up at byte \(offset)"
    case .needlessFailure(let fault): "it gave up although every fault passes: \(fault)"
    case .incurable(let fault): "the next update, without faults, failed: \(fault)"
    case .setting(let what): "the scenario could not be set up: \(what)"
    }
  }
}

extension ScenarioEnding {
  /// Connections that one update may make: 9 attempts, each time it came no further, and those of
  /// its proof. A bound of the scenarios drawn here, far above what any of them needs.
  static let connectionsMaximum = 400
  /// How often the bytes of an image may cross the air, on average.
  static let repetitionsMaximum = 40
  /// How often on one connection: a device that keeps reporting one offset is sent a window, which
  /// may be the image, once more after each of 16 rewinds.
  static let repetitionsPerConnection = 17

  /// - Parameter former: images that the device held before, one of which may run as well.
  public func violations(of scenario: Scenario, former: [[UInt8]] = []) -> [Violation] {
    var found: [Violation] = []
    let wanted = scenario.images.map(\.bytes)
    let runsNew = running == wanted
    if !isWhole(scenario, former + scenario.earlier.map(\.image.bytes)) {
      found.append(.mixedImage)
    }
    // Power that fails behind a bootloader's word takes it back, and an application that tells
    // nothing of itself does not show it: that is what such a proof is worth, and is said to be.
    if case .success(let result) = outcome, !(result.isVerified && runsNew),
      !(scenario.losesPower && result.proof == .bootloader)
    {
      found.append(.falseSuccess)
    }
    found += flashFaults.map(Violation.flashRule)
    if counters.connections > Self.connectionsMaximum * (1 + scenario.earlier.count) {
      found.append(.unbounded("\(counters.connections) connections"))
    }
    let bytes =
      (wanted + scenario.earlier.map(\.image.bytes)).map(\.count).reduce(0, +)
    let repetitions = max(
      Self.repetitionsMaximum, Self.repetitionsPerConnection * counters.connections)
    if counters.dataBytes > repetitions * (bytes + 4096) {
      found.append(.unbounded("\(counters.dataBytes) bytes sent"))
    }
    if scenario.mustFail, case .success = outcome { found.append(.credulity) }
    // Power that fails between the answer to an activation and the restart takes all back.
    if scenario.mustSucceed, case .failure(let fault) = outcome,
      !(scenario.losesPower && fault.leavesOldVersion)
    {
      found.append(.needlessFailure("\(fault)"))
    }
    if let contradiction = contradiction { found.append(.events(contradiction)) }
    return found
  }

  /// Whether each image is the old one or the new one, or somebody else's; or none, in a device that receives an image
  /// over the one that ran.
  private func isWhole(_ scenario: Scenario, _ former: [[UInt8]]) -> Bool {
    zip(zip(running, before), scenario.images).allSatisfy { images, sent in
      let (running, before) = images
      return running == sent.bytes || running == before
        || running.isEmpty && scenario.overwritesWhatRuns
        || former.contains(running)
    }
  }

  /// Of a device that was new: its first transfer begins at the beginning, unless an earlier
  /// announcement, which may carry a part of the image, was broken off.
  var inventedResumes: [Violation] {
    var announcements = 0
    for event in events {
      switch event {
      case .stageBegan(.prepare): announcements += 1
      case .transferBegan(let offset, _, _):
        return offset == 0 || announcements > 1 ? [] : [.inventedResume(offset)]
      default: break
      }
    }
    return []
  }

  private var contradiction: String? {
    for (index, event) in events.enumerated() {
      switch event {
      case .progress(let acknowledged, let total) where acknowledged > total:
        return "\(acknowledged) of \(total) bytes acknowledged"
      case .finished where index != events.count - 1:
        return "something followed the end"
      case .patchGivenUp(let obstacle):
        if let contradiction = contradiction(after: index, obstacle) { return contradiction }
      default: break
      }
    }
    let isFinished = if case .finished? = events.last { true } else { false }
    let succeeded = if case .success = outcome { true } else { false }
    return isFinished == succeeded ? nil : "the end was told wrongly"
  }

  /// The image follows a patch that was given up, once, and all that is said of it says why.
  private func contradiction(after index: Int, _ obstacle: PatchObstacle) -> String? {
    for event in events[(index + 1)...] {
      switch event {
      case .patchGivenUp: return "a patch was given up twice"
      case .delivery(let report) where report.content != .image || report.obstacle != obstacle:
        return "what follows a patch that was given up is \(report)"
      case .finished(let result) where result.delivery?.obstacle != obstacle:
        return "the end does not say why there was no patch"
      default: break
      }
    }
    return nil
  }

  /// The outcome in one word: what was reached, or the case of the fault.
  public var outcomeName: String {
    switch outcome {
    case .success(let result): result.outcome.rawValue
    // A case without a payload has no name here, but a short sentence.
    case .failure(let fault): Mirror(reflecting: fault).children.first?.label ?? "\(fault)"
    }
  }
}

/// A scenario with its ending judged, and cured when it failed.
public struct Judgement: Sendable {
  private static let eventsOfHangShown = 40

  public let ending: ScenarioEnding?
  public let violations: [Violation]

  /// Runs the scenario; after a failure runs the same update without faults on what is left, which
  /// must end in the new image.
  public init(of scenario: Scenario) {
    do throws(ScenarioFault) {
      let settings = try scenario.settings()
      let storage = FlashMemory(size: settings.flashSize)
      let ending = try scenario.run(storage: storage)
      self.ending = ending
      violations =
        ending.violations(of: scenario)
        + (scenario.earlier.isEmpty ? ending.inventedResumes : [])
        + Self.cureViolations(scenario, ending, storage)
    } catch {
      ending = nil
      switch error {
      case .hang(let fault, let events):
        let last = events.suffix(Self.eventsOfHangShown).map { "\n  \($0)" }
        violations = [.hang("\(fault), \(events.count) events, the last:\(last.joined())")]
      case .profile(let fault): violations = [.setting("\(fault)")]
      case .storage(let fault): violations = [.setting("\(fault)")]
      }
    }
  }

  private static func cureViolations(
    _ scenario: Scenario, _ ending: ScenarioEnding, _ storage: FlashMemory
  ) -> [Violation] {
    guard case .failure = ending.outcome else { return [] }
    do throws(ScenarioFault) {
      let cure = try scenario.cure()
      let cured = try cure.run(storage: storage)
      switch cured.outcome {
      // What is refused before a byte is written stays refused.
      case .success, .failure(.downgrade), .failure(.doesNotFit):
        // The restart before this run may start an image that an earlier update activated, or take
        // back one that was on trial.
        return cured.violations(
          of: cure, former: ending.before + scenario.earlier.map(\.image.bytes))
      // What a button sends to its bootloader is not found once it runs the image.
      case .failure(.couldNotConnect(.deviceNotFound))
      where scenario.hasButton && cured.running == scenario.images.map(\.bytes):
        return []
      case .failure(let fault): return [.incurable("\(fault)")]
      }
    } catch {
      return [.incurable("\(error)")]
    }
  }
}
