import OtaflashSwarm

/// One seed, told in full.
struct Replay {
  let seed: UInt64

  func show() -> Bool {
    let scenario = Scenario.swarm(seed: seed)
    print("device   sim:\(scenario.profile)")
    print(
      "update   \(scenario.image.bytes.count) octets, version \(scenario.image.version?.description ?? "-"), "
        + "\(scenario.mode.rawValue), MTU \(scenario.mtu)")
    if let moment = scenario.cancelAfter { print("cancel   after \(moment)") }
    if let moment = scenario.powerCutAfter { print("power    fails after \(moment)") }
    if !scenario.losses.isEmpty { print("losses   \(scenario.losses)") }
    let judgement = Judgement(of: scenario)
    for event in judgement.ending?.events ?? [] { print("  \(event)") }
    if let ending = judgement.ending { print("ending   \(ending.outcome), \(ending.counters)") }
    for violation in judgement.violations { print("VIOLATED \(violation)") }
    return judgement.violations.isEmpty
  }
}
