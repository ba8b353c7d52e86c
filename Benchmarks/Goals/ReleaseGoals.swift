import OtaflashFirmware
import OtaflashGATT
import OtaflashSimulation
import OtaflashUpdate
import Synchronization

/// Goals of patches between real releases, in virtual time: the rate over a slow link, and the
/// bytes after a reset of the device.
struct ReleaseGoals {
  struct NoPatch: Error { let pair: String }

  /// The link of 6 kB/s of `DeltaGoals`.
  private static let device = "sim:?mtu=247&slot=8M&phy=1M&interval=40ms&buffers=1"
  /// The levels 2a and 2b: format 2 with heatshrink, and with the range coder.
  private static let levels = [("2a", 2), ("2b", 3)]
  /// The least rates in kB/s for levels 2a and 2b.
  private static let rates = ["zephyr-release": [40.0, 48], "pyb-release": [42.0, 54]]
  /// The pairs whose update is interrupted, and the number of moments at which the device resets,
  /// distributed evenly over its flash operations.
  private static let interrupted = ["zephyr-release", "pyb-release", "board-feather-dk"]
  private static let resets = 7

  let name: String
  let old: [UInt8]
  let new: [UInt8]

  func all() throws -> [Goal] {
    var goals: [Goal] = []
    for (index, level) in Self.levels.enumerated() {
      if let wanted = Self.rates[name]?[index] { goals.append(try rate(level, wanted)) }
      if Self.interrupted.contains(name) { goals.append(try repetition(level)) }
    }
    return goals
  }

  private func rate(_ level: (name: String, number: Int), _ wanted: Double) throws -> Goal {
    let text = "\(Self.device)&erase-ahead=yes&patch-level=\(level.number)"
    let patch = try ImageUpdate(from: old, to: new, asPatch: true, on: text)
    return Goal(
      what: "\(name), level \(level.name): image rate at 6 kB/s of air, flash erased ahead",
      wanted: "≥ \(Figure.fixed(wanted, digits: 0)) kB/s",
      measured: "\(Figure.kilobytes(patch.rate)); patch of \(Figure.percent(patch.ratio))",
      isMet: patch.rate >= wanted * 1000)
  }

  /// Measures the bytes that are sent if the device resets once, relative to the bytes without a
  /// reset.
  private func repetition(_ level: (name: String, number: Int)) throws -> Goal {
    let profile = try SimulationProfile(parsing: "\(Self.device)&patch-level=\(level.number)")
    let flash = FlashMemory(size: profile.flashSize)
    var first = UpdateOptions()
    first.patches.policy = .never
    first.mode = .withoutResponse
    _ = try run(FirmwareUpdate(image: image(old, 3, profile), options: first), profile, flash)
    let clean = try patched(profile, flash)
    let shares = try (1...Self.resets).map { moment -> Double in
      let operation = clean.operations * moment / (Self.resets + 1)
      let text = "\(Self.device)&patch-level=\(level.number)&reset-at-flash-op=\(operation)"
      let sent = try patched(try SimulationProfile(parsing: text), flash).bytes
      return Double(sent - clean.bytes) / Double(clean.bytes)
    }
    let worst = shares.max() ?? 0
    let middle = shares[Self.resets / 2]
    return Goal(
      what: "\(name), level \(level.name): bytes after one reset, of the patch of "
        + "\(clean.bytes) bytes",
      wanted: "≤ +25 % for a reset at half of the flash operations",
      measured: "+\(Figure.percent(middle)); +\(Figure.percent(worst)) (worst of "
        + "\(Self.resets) resets)",
      isMet: middle <= 0.25)
  }

  /// Sends the patch to a copy of the flash. Returns the sent bytes, and the number of flash
  /// operations of the device.
  private func patched(
    _ profile: SimulationProfile, _ flash: FlashMemory
  ) throws -> (bytes: Int, operations: Int) {
    let copy = FlashMemory(size: flash.size)
    copy.write(flash.read(0..<flash.size), at: 0)
    var options = UpdateOptions()
    options.patches.policy = .require
    let base = old
    options.patches.bases = BaseFinder { _ in base }
    let update = FirmwareUpdate(image: image(new, 4, profile), options: options)
    let found = try run(update, profile, copy)
    guard case .difference = found.result.delivery?.content else { throw NoPatch(pair: name) }
    return (found.result.bytesSent, found.operations)
  }

  private func run(
    _ update: FirmwareUpdate, _ profile: SimulationProfile, _ flash: FlashMemory
  ) throws -> (result: UpdateResult, operations: Int) {
    let operations = Mutex(0)
    let result = try VirtualRun.of(
      profile, storage: flash,
      ending: { board in operations.withLock { $0 = board.counters.flashOperations } }
    ) { (dialer, clock) async throws(UpdateFault) in
      try await update.run(on: dialer, clock: clock)
    }
    return (result, operations.withLock { $0 })
  }

  private func image(
    _ bytes: [UInt8], _ version: UInt8, _ profile: SimulationProfile
  ) -> FirmwareImage {
    FirmwareImage(
      name: name, format: .binary, bytes: bytes, version: FirmwareVersion(version, 0, 0),
      hardware: profile.hardware)
  }
}
