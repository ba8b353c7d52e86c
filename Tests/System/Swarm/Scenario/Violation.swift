import OtaflashFirmware
import OtaflashSimulation
import OtaflashUpdate

/// A result that must not occur with any fault.
public enum Violation: Equatable, Sendable, CustomStringConvertible {
  /// The running image is neither the previous image nor the sent image.
  case mixedImage
  /// The update reported success, but another image runs.
  case falseSuccess
  /// The update, or a wait in it, never ended.
  case hang(String)
  /// The device violated a rule of flash.
  case flashRule(FlashFault)
  /// A retry exceeded its limit.
  case unbounded(String)
  /// The events of the update contradict each other.
  case events(String)
  /// The update reported success although the device reported wrong values until the end.
  case credulity
  /// The update resumed on a new device, which held no data.
  case inventedResume(Int)
  /// The update failed although all faults were temporary.
  case needlessFailure(String)
  /// A later update without faults failed.
  case incurable(String)
  /// The scenario could not be set up.
  case setting(String)

  public var isHang: Bool { if case .hang = self { true } else { false } }

  public var description: String {
    switch self {
    case .mixedImage: "the running image is neither the old image nor the new image"
    case .falseSuccess: "success was reported, but the new image does not run"
    case .hang(let cause): "the update never ended: \(cause)"
    case .flashRule(let fault): "the device violated a rule of flash: \(fault)"
    case .unbounded(let what): "a limit was exceeded: \(what)"
    case .events(let what): "the events contradict each other: \(what)"
    case .credulity: "success was reported although the device always reported wrong facts"
    case .inventedResume(let offset): "the update of a new device resumed at byte \(offset)"
    case .needlessFailure(let fault): "it failed although all faults were temporary: \(fault)"
    case .incurable(let fault): "the next update, without faults, failed: \(fault)"
    case .setting(let what): "the scenario could not be set up: \(what)"
    }
  }
}

extension ScenarioEnding {
  /// The maximum number of connections in one update: 9 attempts after each stop of progress, and
  /// the attempts of the verification. No drawn scenario needs a number near the limit.
  static let connectionsMaximum = 400
  /// The maximum number of times that each byte of an image is sent, on average.
  static let repetitionsMaximum = 40
  /// The maximum number of times that each byte of an image is sent on one connection. If a device
  /// repeatedly reports the same offset, the host sends the window, which may be the complete
  /// image, again after each of 16 rewinds.
  static let repetitionsPerConnection = 17

  /// Returns the violations of the rules that hold for every scenario.
  ///
  /// - Parameter former: images that the device held earlier; one of these may also run.
  public func violations(of scenario: Scenario, former: [[UInt8]] = []) -> [Violation] {
    var found: [Violation] = []
    let wanted = scenario.images.map(\.bytes)
    let runsNew = running == wanted
    if !isWhole(scenario, former + scenario.earlier.map(\.image.bytes)) {
      found.append(.mixedImage)
    }
    // If power fails after the bootloader has checked the image, the image may be reverted, and an
    // application without version information does not show this. The grade "bootloader" permits
    // this.
    // An update without evidence claims nothing about the running image.
    if case .success(let result) = outcome, result.outcome != .restarted,
      !(result.isVerified && runsNew),
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
    if scenario.mustFail, case .success(let result) = outcome, result.outcome != .restarted {
      found.append(.credulity)
    }
    // A power failure between the answer to an activation and the restart cancels the activation.
    if scenario.mustSucceed, case .failure(let fault) = outcome,
      !(scenario.losesPower && fault.leavesOldVersion)
    {
      found.append(.needlessFailure("\(fault)"))
    }
    if let contradiction = contradiction { found.append(.events(contradiction)) }
    return found
  }

  /// Returns whether each running image is the old image, the new image, or the image of an earlier
  /// update. A device that writes a new image over the running image may also have no image.
  private func isWhole(_ scenario: Scenario, _ former: [[UInt8]]) -> Bool {
    zip(zip(running, before), scenario.images).allSatisfy { images, sent in
      let (running, before) = images
      return running == sent.bytes || running == before
        || running.isEmpty && scenario.overwritesWhatRuns
        || former.contains(running)
    }
  }

  /// The violations of a new device: its first transfer must start at 0, unless an earlier
  /// announcement, which may contain a part of the image, was interrupted.
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
        return "an event follows the end"
      case .deliveryGivenUp(let obstacle):
        if let contradiction = contradiction(after: index, obstacle) { return contradiction }
      default: break
      }
    }
    let isFinished = if case .finished? = events.last { true } else { false }
    let succeeded = if case .success = outcome { true } else { false }
    return isFinished == succeeded ? nil : "the reported end differs from the outcome"
  }

  /// Returns the contradiction in the events after a failed patch: the complete image must follow,
  /// and all reports must contain the reason.
  private func contradiction(after index: Int, _ obstacle: DeliveryObstacle) -> String? {
    for event in events[(index + 1)...] {
      switch event {
      case .deliveryGivenUp: return "a patch was given up twice"
      case .delivery(let report) where report.content != .image || report.obstacle != obstacle:
        return "after a patch was given up, the delivery is \(report)"
      case .finished(let result) where result.delivery?.obstacle != obstacle:
        return "the end does not report why no patch was sent"
      default: break
      }
    }
    return nil
  }

  /// The outcome in one word: the name of the result's outcome, or the name of the fault's case.
  public var outcomeName: String {
    switch outcome {
    case .success(let result): result.outcome.rawValue
    // The text is the same as before the fault had other delivery methods, so that digests of
    // builds can be compared.
    case .failure(.undeliverable(let obstacle)) where obstacle.patch != nil: "noPatch"
    // A case without a payload has no label; its description is a short sentence.
    case .failure(let fault): Mirror(reflecting: fault).children.first?.label ?? "\(fault)"
    }
  }
}

/// The violations of a scenario. If its update fails, the update is repeated without simulated
/// faults, and the violations of the repetition are included.
public struct Judgement: Sendable {
  private static let eventsOfHangShown = 40

  public let ending: ScenarioEnding?
  /// The ending of the repetition without faults; `nil` without a repetition.
  public let cure: ScenarioEnding?
  public let violations: [Violation]

  /// Runs the scenario. After a failure, runs the same update without faults on the same device,
  /// which must then run the new image.
  public init(of scenario: Scenario) {
    do throws(ScenarioFault) {
      let settings = try scenario.settings()
      let storage = FlashMemory(size: settings.flashSize)
      let ending = try scenario.run(storage: storage)
      self.ending = ending
      let cure = Self.cure(scenario, ending, storage)
      self.cure = cure?.ending
      violations =
        ending.violations(of: scenario)
        + (scenario.earlier.isEmpty ? ending.inventedResumes : []) + (cure?.violations ?? [])
    } catch {
      (ending, cure) = (nil, nil)
      switch error {
      case .hang(let fault, let events):
        let last = events.suffix(Self.eventsOfHangShown).map { "\n  \($0)" }
        violations = [.hang("\(fault), \(events.count) events, the last:\(last.joined())")]
      case .profile(let fault): violations = [.setting("\(fault)")]
      case .storage(let fault): violations = [.setting("\(fault)")]
      }
    }
  }

  /// Repeats a failed update without faults.
  private static func cure(
    _ scenario: Scenario, _ ending: ScenarioEnding, _ storage: FlashMemory
  ) -> (ending: ScenarioEnding?, violations: [Violation])? {
    guard case .failure = ending.outcome else { return nil }
    do throws(ScenarioFault) {
      let cure = try scenario.cure()
      let cured = try cure.run(storage: storage)
      return (cured, violations(of: cure, cured, after: scenario, ending))
    } catch {
      return (nil, [.incurable("\(error)")])
    }
  }

  private static func violations(
    of cure: Scenario, _ cured: ScenarioEnding, after scenario: Scenario, _ ending: ScenarioEnding
  ) -> [Violation] {
    switch cured.outcome {
    // A refusal before the first byte remains in effect.
    case .success, .failure(.downgrade), .failure(.doesNotFit):
      // The restart before this run may start an image that an earlier update activated, or
      // revert an image on trial.
      return cured.violations(
        of: cure, former: ending.before + scenario.earlier.map(\.image.bytes))
    // A device whose bootloader is started only by a button is not found once it runs the image.
    case .failure(.couldNotConnect(.deviceNotFound))
    where scenario.hasButton && cured.running == scenario.images.map(\.bytes):
      return []
    case .failure(let fault): return [.incurable("\(fault)")]
    }
  }
}
