import OtaflashFirmware
import OtaflashSimulation

extension Scenario {
  /// One update of a device with another protocol than the OTA service, on a day drawn from a seed.
  public static func swarmOfKinds(seed: UInt64) throws -> Scenario {
    var draw = KindDraw(seed: seed)
    let kind = draw.pick(KindDraw.kinds)
    let faults = draw.faults()
    let loss = draw.pick(["0%", "0%", "1%", "5%"])
    let settings =
      ["seed=\(seed)", "slot=64K", "loss=\(loss)"] + draw.device() + draw.settings(of: kind)
      + draw.texts(of: faults)
    let profile = "\(kind)?" + settings.joined(separator: "&")
    var scenario = Scenario(
      profile: profile, image: try .drawn(for: profile, size: draw.imageSize(), seed: seed))
    scenario.mustFail = !KindDraw.lying.isDisjoint(with: faults)
    scenario.mustSucceed = faults.isEmpty && loss == "0%"
    return scenario
  }
}

/// Draws the parts of a day.
private struct KindDraw {
  static let kinds = ["smp", "nordic-dfu", "nordic-legacy", "infinitime"]
  /// Faults that an update must not be able to overlook, whatever the protocol.
  static let lying: Set<FaultName> = [
    .neverReturns, .newAddress, .comesBackOld, .reverts, .silent,
  ]
  private static let faultNames: [FaultName] = [
    .cutAtPDU, .cutAfter, .resetAtFlashOperation, .torn, .notificationLoss, .neverReturns,
    .newAddress, .comesBackOld, .reverts, .silent, .latePDU, .nonsensePDUs, .slowObserver,
  ]
  private static let faultsMaximum = 2

  private var random: SeededRandom

  init(seed: UInt64) { random = SeededRandom(seed: seed).forked(for: 78) }

  mutating func number(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &random) }

  mutating func pick<Element>(_ choices: [Element]) -> Element {
    choices[number(0...choices.count - 1)]
  }

  /// A multiple of 4, as legacy boot loaders want it.
  mutating func imageSize() -> Int { 4 * number(32...1024) }

  mutating func device() -> [String] {
    [
      "interval=\(pick(["7.5ms", "15ms", "30ms"]))", "erase=\(pick(["0", "20ms", "85ms"]))",
      "write=\(pick(["0", "40ms"]))", "boot=\(pick(["50ms", "300ms", "3s"]))",
      "drop=\(pick(["timeout", "close"]))",
    ]
  }

  mutating func settings(of kind: String) -> [String] {
    switch kind {
    case "smp":
      return [
        "mode=\(pick(["swap", "swap-scratch", "overwrite"]))", "mtu=\(pick([100, 247, 498]))",
        "netbufs=\(pick(["2x512", "4x384", "4x2475"]))", "progressive=\(pick(["yes", "no"]))",
        "check=\(pick(["yes", "no"]))",
      ]
    case "nordic-dfu":
      return ["entry=\(pick(["buttonless", "experimental"]))", "mtu=\(pick([23, 100, 247]))"]
    default: return []
    }
  }

  mutating func faults() -> [FaultName] {
    var names: Set<FaultName> = []
    for _ in 0..<number(0...Self.faultsMaximum) { names.insert(pick(Self.faultNames)) }
    if names.contains(.torn) { names.insert(.resetAtFlashOperation) }
    return Self.faultNames.filter(names.contains)
  }

  mutating func texts(of faults: [FaultName]) -> [String] {
    faults.map { name in value(of: name).map { "\(name.rawValue)=\($0)" } ?? name.rawValue }
  }

  private mutating func value(of name: FaultName) -> String? {
    switch name {
    case .cutAtPDU: "\(number(1...600))"
    case .cutAfter: "\(number(1...8000))ms"
    case .resetAtFlashOperation: "\(number(1...60))"
    case .notificationLoss: "\(number(1...30))%"
    case .latePDU: "\(number(1...200))"
    case .nonsensePDUs: pick(["0.1%", "1%"])
    default: nil
    }
  }
}
