import OtaflashFirmware
import OtaflashSimulation

extension Scenario {
  /// Returns one update of a device by a protocol other than the OTA service, drawn from a seed.
  public static func swarmOfKinds(seed: UInt64) throws -> Scenario {
    var draw = KindDraw(seed: seed)
    let device = draw.device()
    let faults = draw.faults(of: device, try SimulationProfile(parsing: device.name).device)
    let link = draw.link()
    let settings = ["seed=\(seed)", "slot=64K"] + device.settings + link + draw.texts(of: faults)
    let profile = "\(device.name)?" + settings.joined(separator: "&")
    let images = try device.images.map { index in
      try FirmwareImage.drawn(
        for: profile, size: draw.imageSize(), seed: seed &+ UInt64(index) << 32, index: index)
    }
    var scenario = Scenario(profile: profile, image: images[0])
    scenario.otherImages = Array(images.dropFirst())
    scenario.mtu = draw.pick(device.hostMTUs)
    scenario.cancelAfter = draw.chance(0.1) ? draw.moment() : nil
    scenario.powerCutAfter = draw.chance(0.1) ? draw.moment() : nil
    scenario.losses = draw.losses()
    let lies = device.lies.intersection(faults)
    scenario.mustFail = !lies.subtracting(faults.undoneByPower(scenario.powerCutAfter)).isEmpty
    scenario.mustSucceed =
      faults.allSatisfy(device.passing.contains) && KindDraw.isSteady(link)
      && scenario.losses.isEmpty && scenario.cancelAfter == nil && scenario.powerCutAfter == nil
      && device.takesEveryImage
    return scenario
  }
}

/// A drawn device, and the facts that are known in advance.
struct DrawnDevice {
  /// The name of the profile.
  let name: String
  var settings: [String] = []
  /// The numbers of the device's images.
  var images = [0]
  /// The values of ATT_MTU that the host may request.
  var hostMTUs = [23, 100, 185, 247, 498, 512, 517]
  /// Faults that an update must detect.
  var lies: Set<Fault> = [.neverReturns, .newAddress, .comesBackOld, .reverts, .silent]
  /// Temporary faults. An update must succeed despite them.
  var passing: Set<Fault> = [.cutAtPDU, .cutAfter, .slowObserver]
  /// Faults that this device does not have, because its reports could not reveal them.
  var hidden: Set<Fault> = []
  /// Whether the device accepts every image that fits.
  var takesEveryImage = true
}

/// Draws the parts of a scenario.
struct KindDraw {
  private static let faultsMaximum = 3
  private static let kinds = SwarmKinds.all.flatMap { kind in kind.days.map { ($0, kind) } }

  private var random: SeededRandom

  init(seed: UInt64) { random = SeededRandom(seed: seed).forked(for: 78) }

  mutating func chance(_ probability: Double) -> Bool {
    random.happens(withProbability: probability)
  }

  mutating func number(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &random) }

  mutating func pick<Element>(_ choices: [Element]) -> Element {
    choices[number(0...choices.count - 1)]
  }

  mutating func moment() -> Duration { .milliseconds(number(0...8000)) }

  /// Returns an image size in bytes, in most cases at most a page, otherwise up to 20,000. The size
  /// is a multiple of 4, as legacy bootloaders require.
  mutating func imageSize() -> Int { 4 * (chance(0.6) ? number(32...1024) : number(32...5000)) }

  // MARK: The device

  mutating func device() -> DrawnDevice {
    let (name, kind) = pick(Self.kinds)
    var device = kind.device(name, &self)
    device.settings += [
      "erase=\(pick(["0", "20ms", "85ms", "85ms", "400ms"]))",
      "write=\(pick(["0", "5ms", "40ms", "40ms", "200ms"]))",
      "boot=\(pick(["0", "50ms", "300ms", "3s"]))", "drop=\(pick(["timeout", "close"]))",
    ]
    if chance(0.1) { device.settings.append("security=\(pick(["encrypted", "authenticated"]))") }
    return device
  }

  /// Draws whether the application reports its version. An application without version information
  /// cannot be distinguished from another application. The only evidence is then that the
  /// bootloader, which starts only valid images, has started the application.
  mutating func drawInformation(_ device: inout DrawnDevice) {
    let hasInformation = chance(0.8)
    device.settings.append("information=\(hasInformation ? "yes" : "no")")
    if hasInformation {
      device.lies.insert(.otherImage)
    } else {
      device.hidden = [.comesBackOld, .reverts, .otherImage]
    }
  }

  mutating func either() -> String { pick(["yes", "no"]) }

  // MARK: The link

  mutating func link() -> [String] {
    var settings = [
      "loss=\(pick(["0%", "0%", "1%", "5%", "20%"]))",
      "interval=\(pick(["7.5ms", "15ms", "30ms", "50ms"]))", "phy=\(pick(["1M", "2M"]))",
      "ll=\(pick([27, 251, 251]))", "response=\(pick(["same", "next"]))",
    ]
    if chance(0.2) { settings.append("buffers=\(number(1...6))") }
    if chance(0.2) { settings.append("queue=\(pick([100, 600, 2000, 30_000]))") }
    return settings
  }

  /// Returns whether losses on the air are so rare that the link survives, because the link layer
  /// repeats lost packets.
  static func isSteady(_ link: [String]) -> Bool {
    link.contains("loss=0%") || link.contains("loss=1%")
  }

  // MARK: Faults

  mutating func faults(of device: DrawnDevice, _ kind: DeviceKind) -> [Fault] {
    let keys = Set(SimulationProfile.keys(of: kind).map(\.key))
    let known = Fault.allCases.filter {
      keys.contains($0.rawValue) && !device.hidden.contains($0)
    }
    var names: Set<Fault> = []
    for _ in 0..<number(0...Self.faultsMaximum) { names.insert(pick(known)) }
    if names.contains(.torn) { names.insert(.resetAtFlashOperation) }
    return known.filter(names.contains)
  }

  mutating func texts(of faults: [Fault]) -> [String] {
    faults.map { name in value(of: name).map { "\(name.rawValue)=\($0)" } ?? name.rawValue }
  }

  private mutating func value(of name: Fault) -> String? {
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

  mutating func losses() -> PDULosses {
    PDULosses(drawnFrom: &random, likelihood: 0.15)
  }
}
