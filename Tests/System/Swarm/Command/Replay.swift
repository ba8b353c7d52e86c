import OtaflashSwarm

/// Runs one seed and prints all details.
struct Replay {
  let seed: UInt64

  func show() -> Bool {
    do {
      return show(try Scenario.swarm(seed: seed))
    } catch {
      print("the scenario cannot be drawn: \(error)")
      return false
    }
  }

  private func show(_ scenario: Scenario) -> Bool {
    print("device   sim:\(scenario.profile)")
    for image in scenario.images {
      print(
        "update   \(image.bytes.count) bytes, version \(image.version?.description ?? "-"), "
          + "\(scenario.mode.rawValue), MTU \(scenario.mtu)")
    }
    if let moment = scenario.cancelAfter { print("cancel   after \(moment)") }
    if let moment = scenario.powerCutAfter { print("power    fails after \(moment)") }
    if !scenario.losses.isEmpty { print("losses   \(scenario.losses)") }
    let judgement = Judgement(of: scenario)
    for event in judgement.ending?.events ?? [] { print("  \(event)") }
    if let ending = judgement.ending { print("ending   \(ending.outcome), \(ending.counters)") }
    if let cure = judgement.cure {
      print("again, without faults:")
      for event in cure.events { print("  \(event)") }
      print("ending   \(cure.outcome), \(cure.counters)")
    }
    for violation in judgement.violations { print("VIOLATED \(violation)") }
    return judgement.violations.isEmpty
  }
}
