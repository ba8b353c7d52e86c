import OtaflashFirmware
import OtaflashSimulation
import OtaflashUpdate

extension Scenario {
  /// Adds patches to a scenario: an image related to the running image, the images that the host
  /// stores, the state of the base, and earlier updates.
  ///
  /// - Parameter seed: the seed of the scenario.
  mutating func addPatches(seed: UInt64) throws(ScenarioFault) {
    var draw = PatchDraw(seed: seed)
    let settings = draw.device()
    profile += "&" + settings.joined(separator: "&")
    let storage = FlashMemory(size: try self.settings().flashSize)
    let running = try Self.factory(profile, storage: storage)
    image = draw.release(of: running, like: image)
    bases = draw.bases(running)
    delta = draw.policy()
    earlier = draw.earlier(before: image, running, bases)
    if settings.contains("base=former") {
      // The previous image is the factory image.
      var first = EarlierUpdate(
        image: draw.release(of: running, like: image, version: FirmwareVersion(1, 2, 1)),
        bases: [running])
      first.mode = mode
      earlier.insert(first, at: 0)
      bases.append(first.image.bytes)
    }
    mustSucceed = mustSucceed && delta != .require
  }
}

/// Draws the parts of a scenario with patches.
struct PatchDraw {
  private static let earlierMaximum = 2

  private var random: SeededRandom

  init(seed: UInt64) { random = SeededRandom(seed: seed).forked(for: 79) }

  private mutating func chance(_ probability: Double) -> Bool {
    random.happens(withProbability: probability)
  }

  private mutating func number(_ range: ClosedRange<Int>) -> Int {
    Int.random(in: range, using: &random)
  }

  private mutating func pick<Element>(_ choices: [Element]) -> Element {
    choices[number(0...choices.count - 1)]
  }

  mutating func device() -> [String] {
    let base = pick([
      "right", "right", "right", "right", "right", "lost", "former", "damaged", "spoilt", "spoilt",
    ])
    var settings = ["base=\(base)", "delta=\(chance(0.05) ? "no" : "yes")"]
    if chance(0.25) { settings.append("flip=\(number(1...60))") }
    return settings
  }

  mutating func policy() -> DeltaPolicy {
    pick([.auto, .auto, .auto, .auto, .auto, .never, .require])
  }

  /// Returns the next release of an image: some bytes are changed, some inserted, some removed.
  ///
  /// - Parameter like: an image whose size and other properties the release has.
  mutating func release(
    of base: [UInt8], like old: FirmwareImage, version: FirmwareVersion? = nil
  ) -> FirmwareImage {
    let size = old.bytes.count
    var bytes = Array(base.prefix(size))
    for _ in 0..<number(0...6) {
      let place = number(0...max(0, bytes.count - 1))
      let end = min(place + number(1...40) * number(1...20), bytes.count)
      switch number(0...3) {
      case 0: for index in stride(from: place, to: end, by: number(2...40)) { bytes[index] &+= 8 }
      case 1: bytes.replaceSubrange(place..<end, with: random.bytes(count: end - place))
      case 2: bytes.removeSubrange(place..<end)
      default: bytes.insert(contentsOf: random.bytes(count: end - place), at: place)
      }
    }
    // The size stays the same, even if it does not fit the device.
    bytes = Array(bytes.prefix(size))
    bytes += random.bytes(count: size - bytes.count)
    bytes[size - 1] ^= UInt8(number(1...255))
    return FirmwareImage(
      name: "release.bin", format: .binary, bytes: bytes, version: version ?? old.version,
      hardware: old.hardware)
  }

  /// Returns the images that a host stores: no image, an image similar to the base, the base and
  /// another image, or only the base.
  mutating func bases(_ running: [UInt8]) -> [[UInt8]] {
    switch number(0...5) {
    case 0: return []
    case 1: return [Array(running.dropLast())]
    case 2: return [random.bytes(count: 2000), running]
    default: return [running]
    }
  }

  /// Returns earlier updates: of the same image by another host, or of another release. The earlier
  /// updates are often interrupted, and may use another mode, so that their streams differ.
  mutating func earlier(
    before image: FirmwareImage, _ running: [UInt8], _ bases: [[UInt8]]
  ) -> [EarlierUpdate] {
    var found: [EarlierUpdate] = []
    while found.count < Self.earlierMaximum, chance(0.5) {
      let isSame = chance(0.6)
      var update = EarlierUpdate(
        image: isSame
          ? image : release(of: running, like: image, version: FirmwareVersion(1, 2, 2)),
        bases: pick([bases, bases, [running], []]))
      update.delta = pick([.auto, .auto, .never])
      update.mode = pick(WriteMode.allCases)
      update.mtu = pick([23, 50, 185, 247, 498])
      update.breaksOffAfter = chance(0.9) ? .milliseconds(number(100...4000)) : nil
      found.append(update)
    }
    return found
  }
}
