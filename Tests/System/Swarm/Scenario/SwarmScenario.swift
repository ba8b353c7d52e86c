import OtaflashFirmware
import OtaflashSimulation
import OtaflashUpdate

extension Scenario {
  /// One in this number of seeds yields a scenario of the OTA service.
  private static let seedsPerOTAService: UInt64 = 4

  /// Returns the scenario of a seed: a device, a link, an image and several faults, all drawn. The
  /// same seed always yields the same scenario, as long as the files of this target do not change.
  public static func swarm(seed: UInt64) throws -> Scenario {
    seed.isMultiple(of: seedsPerOTAService)
      ? try swarmOfOTAService(seed: seed) : try swarmOfKinds(seed: seed)
  }

  /// Returns one update by the OTA service. Every second image is related to the running image.
  public static func swarmOfOTAService(seed: UInt64) throws(ScenarioFault) -> Scenario {
    var draw = SwarmDraw(seed: seed)
    let size = draw.imageSize()
    let version = draw.imageVersion()
    let key = draw.chance(0.3) ? draw.keyText() : nil
    let faults = draw.faults()
    let link = draw.link()
    var settings = draw.device(seed: seed, key: key) + link + draw.texts(of: faults)
    // The value is derived from the seed and not drawn, so that the values drawn after it do not
    // change. A slot whose pages need 20 s each is not erased ahead.
    if (seed / seedsPerOTAService).isMultiple(of: 3), !settings.contains("erase=20s") {
      settings.append("erase-ahead=yes")
    }
    var scenario = Scenario(
      profile: "plain?" + settings.joined(separator: "&"),
      image: .drawn(size: size, version: version, seed: seed))
    scenario.mode = draw.pick(WriteMode.allCases)
    scenario.mtu = draw.pick([23, 50, 185, 247, 498, 512, 517])
    scenario.key = key.map { SwarmDraw.bytes(ofHex: $0) }
    if draw.chance(0.03) { scenario.key = [1, 2, 3] }
    scenario.allowDowngrade = version < FirmwareVersion(1, 2, 0) && draw.chance(0.8)
    scenario.cancelAfter = draw.chance(0.1) ? draw.moment() : nil
    scenario.powerCutAfter = draw.chance(0.15) ? draw.moment() : nil
    scenario.losses = draw.losses()
    let lies = Set(faults).intersection(SwarmDraw.lying)
    scenario.mustFail = !lies.subtracting(faults.undoneByPower(scenario.powerCutAfter)).isEmpty
    scenario.mustSucceed =
      faults.allSatisfy(SwarmDraw.passing.contains) && SwarmDraw.isSteady(link)
      // The longest erase, together with a PDU that is seconds late, exceeds the host's time limit.
      && !(settings.contains("erase=20s") && faults.contains(.latePDU))
      && scenario.cancelAfter == nil
      // If the device loses power before a new image is confirmed, the image is correctly reverted.
      && (scenario.powerCutAfter == nil || !settings.contains("trial=yes"))
      && key.map { SwarmDraw.bytes(ofHex: $0) } == scenario.key && size <= 32_768
      && (version >= FirmwareVersion(1, 2, 0) || scenario.allowDowngrade)
    if !(seed / seedsPerOTAService).isMultiple(of: 2) { try scenario.addPatches(seed: seed) }
    return scenario
  }
}

extension [Fault] {
  /// Returns the faults that belong to an activation; empty if the power never fails. If power
  /// fails during the activation, the device starts the new image without these faults.
  func undoneByPower(_ powerCutAfter: Duration?) -> Set<Fault> {
    powerCutAfter == nil && !contains(.resetAtFlashOperation)
      ? [] : [.neverReturns, .newAddress, .otherBoard]
  }
}

/// Draws the parts of a scenario.
private struct SwarmDraw {
  private static let faultsMaximum = 4
  /// Temporary faults. An update must succeed despite them.
  static let passing: Set<Fault> = [
    .cutAtPDU, .cutAfter, .notificationLoss, .wrongCRCOnce, .jumpBack, .mtuLie, .foreignState,
    .latePDU, .slowObserver,
  ]

  /// Faults that an update must detect.
  static let lying: Set<Fault> = [
    .wrongCRCAlways, .wrongVerifyCRC, .otherImage, .otherBoard, .neverReturns, .newAddress,
    .comesBackOld,
    .reverts, .nonsense, .silent,
  ]

  private var random: SeededRandom

  init(seed: UInt64) { random = SeededRandom(seed: seed).forked(for: 77) }

  static func bytes(ofHex text: String) -> [UInt8] {
    let digits = text.utf8.map { UInt8($0 <= 0x39 ? $0 - 0x30 : $0 - 0x61 + 10) }
    return stride(from: 0, to: digits.count, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
  }

  mutating func chance(_ probability: Double) -> Bool {
    random.happens(withProbability: probability)
  }

  mutating func number(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &random) }

  mutating func pick<Element>(_ choices: [Element]) -> Element {
    choices[number(0...choices.count - 1)]
  }

  mutating func moment() -> Duration { .milliseconds(number(0...6000)) }

  mutating func keyText() -> String {
    random.bytes(count: number(1...32)).map { byte in
      let digits = String(byte, radix: 16)
      return digits.utf8.count == 1 ? "0" + digits : digits
    }.joined()
  }

  // MARK: Image

  /// Returns an image size in bytes: a small size, a size at the edge of a row or page, or any size
  /// up to 40 KiB.
  mutating func imageSize() -> Int {
    switch number(0...3) {
    case 0: number(1...600)
    case 1: max(1, number(1...10) * 1024 + number(-2...2))
    case 2: max(1, number(1...8) * 4096 + number(-2...2))
    default: number(1...40_960)
    }
  }

  mutating func imageVersion() -> FirmwareVersion {
    chance(0.1) ? FirmwareVersion(1, 1, 9) : FirmwareVersion(1, 3, UInt16(number(0...9)))
  }

  // MARK: Device

  mutating func device(seed: UInt64, key: String?) -> [String] {
    var settings = ["seed=\(seed)", "slot=\(pick(["32K", "64K"]))"]
    settings.append("erase=\(pick(["0", "1ms", "85ms", "85ms", "400ms", "2s", "20s"]))")
    settings.append("write=\(pick(["0", "5ms", "40ms", "40ms", "400ms"]))")
    settings.append("ring=\(pick(["2K", "3K", "4K", "8K", "16K"]))")
    settings.append("mtu=\(pick([23, 50, 185, 247, 498, 517]))")
    settings.append("boot=\(pick(["0", "50ms", "300ms", "3s"]))")
    settings.append("drop=\(pick(["timeout", "close"]))")
    if chance(0.3) { settings.append("trial=yes") }
    if let key { settings.append("key=\(key)") }
    return settings
  }

  mutating func link() -> [String] {
    var settings = ["interval=\(pick(["7.5ms", "15ms", "30ms", "50ms", "100ms", "200ms"]))"]
    settings.append("ll=\(pick([27, 69, 185, 251]))")
    // The longest packet of the coded PHY does not fit the shortest intervals.
    let isShort = settings[0] == "interval=7.5ms" || settings[0] == "interval=15ms"
    settings.append("phy=\(pick(isShort ? ["1M", "2M"] : ["1M", "2M", "2M", "S2", "S8"]))")
    settings.append("loss=\(pick(["0%", "0%", "1%", "10%", "30%"]))")
    if chance(0.3) { settings.append("buffers=\(number(1...6))") }
    if chance(0.3) { settings.append("queue=\(pick([100, 600, 2000, 30_000]))") }
    settings.append("response=\(pick(["same", "next"]))")
    return settings
  }

  /// Returns whether packets are rarely lost for longer than the supervision timeout of 420 ms.
  static func isSteady(_ link: [String]) -> Bool {
    link.contains("loss=0%") || link.contains("loss=1%")
      || ["7.5ms", "15ms", "30ms"].contains { link.contains("interval=\($0)") }
  }

  // MARK: Faults

  mutating func faults() -> [Fault] {
    let count = number(0...Self.faultsMaximum)
    var names: Set<Fault> = []
    for _ in 0..<count { names.insert(pick(Fault.allCases)) }
    if names.contains(.torn) { names.insert(.resetAtFlashOperation) }
    return Fault.allCases.filter(names.contains)
  }

  mutating func texts(of faults: [Fault]) -> [String] {
    faults.map { name in value(of: name).map { "\(name.rawValue)=\($0)" } ?? name.rawValue }
  }

  private mutating func value(of name: Fault) -> String? {
    switch name {
    case .cutAtPDU: "\(number(1...600))"
    case .cutAfter: "\(number(1...8000))ms"
    case .resetAtFlashOperation: "\(number(1...80))"
    case .notificationLoss: "\(number(1...60))%"
    case .latePDU: "\(number(1...300))"
    case .nonsensePDUs: pick(["0.1%", "1%", "5%"])
    default: nil
    }
  }

  mutating func losses() -> PDULosses {
    PDULosses(drawnFrom: &random, likelihood: 0.2)
  }
}
