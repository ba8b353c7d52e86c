import Glibc
import OtaflashDelta
import OtaflashSampleFirmware
import OtaflashSimulation

/// The cost of creating a patch in this process and in PyPI's detools, one after the other, with
/// the same images and settings.
struct PatchCost {
  struct NoAnswer: Error {}

  /// The number of measurements; the shortest CPU time counts.
  private static let rounds = 3
  private static let secondsLimit = 1.5
  private static let megabytesLimit = 64.0
  private static let factor = 2.0

  /// A Python interpreter with detools, and the script that runs it; `nil` if not available.
  let detools: (python: String, script: String)?

  func all() throws -> [Goal] {
    let pair = RelinkedFirmware(size: 512 * 1024, changing: 0.07)
    guard let parameters = HeatshrinkParameters(window: 10, lookahead: 8) else { return [] }
    let ours = Self.quickest {
      _ = Patch(
        from: PatchBase(pair.old), to: pair.new[...], codec: .heatshrink(parameters))
    }
    let chosen = Self.quickest { _ = Self.planner(of: pair.new).best(base: pair.old) }
    let megabytes = ProcessCost.mostResidentMegabytes
    return [
      Goal(
        what: "creation of the patch for 512 KiB: every codec is tried, applied and compared",
        wanted: "≤ 1.5 s of CPU time and ≤ 64 MB",
        measured: "\(Figure.fixed(chosen, digits: 2)) s; \(Figure.fixed(megabytes)) MB, including "
          + "the images", isMet: chosen <= Self.secondsLimit && megabytes <= Self.megabytesLimit),
      try comparison(ours, pair),
    ]
  }

  private static func planner(of image: [UInt8]) -> DeliveryPlanner {
    DeliveryPlanner(
      image: image,
      abilities: DecoderAbilities(
        hasCRLE: true, largestWindow: 10, largestLookahead: 10, pageSize: 4096),
      conditions: DeliveryConditions(bytesPerSecond: 20_000, isErasedAhead: true))
  }

  private func comparison(_ ours: Double, _ pair: RelinkedFirmware) throws -> Goal {
    let what =
      "creation of one patch for the same images with heatshrink 10,8, relative to PyPI's detools "
      + "0.53.0"
    let wanted = "≤ 2 times the CPU time"
    guard let detools else {
      return Goal(
        what: what, wanted: wanted, measured: "not measured: detools cannot be installed",
        isMet: false)
    }
    let theirs = try Self.cost(ofDetools: detools.python, detools.script, pair)
    return Goal(
      what: what, wanted: wanted,
      measured: "\(Figure.fixed(ours / theirs, digits: 2)) times "
        + "(\(Figure.fixed(ours, digits: 2)) s compared with "
        + "\(Figure.fixed(theirs, digits: 2)) s)",
      isMet: ours <= Self.factor * theirs)
  }

  private static func cost(
    ofDetools python: String, _ script: String, _ pair: RelinkedFirmware
  ) throws -> Double {
    let files = ["old", "new"].map { "/tmp/otaflash-goals-\(getpid())-\($0).bin" }
    defer { for file in files { unlink(file) } }
    for (path, bytes) in zip(files, [pair.old, pair.new]) {
      guard let file = fopen(path, "wb") else { throw NoAnswer() }
      defer { fclose(file) }
      guard fwrite(bytes, 1, bytes.count, file) == bytes.count else { throw NoAnswer() }
    }
    let words = [python, script, files[0], files[1], String(rounds)]
    guard let answer = popen(words.joined(separator: " "), "r") else { throw NoAnswer() }
    defer { pclose(answer) }
    var line = [CChar](repeating: 0, count: 128)
    guard fgets(&line, Int32(line.count), answer) != nil else { throw NoAnswer() }
    let text = String(decoding: line.prefix { $0 != 0 && $0 != 10 }.map(UInt8.init), as: UTF8.self)
    guard let seconds = Double(text), seconds > 0 else { throw NoAnswer() }
    return seconds
  }

  private static func quickest(_ body: () -> Void) -> Double {
    let times = (0..<rounds).map { _ in
      let before = ProcessCost.now
      body()
      return (ProcessCost.now - before).processorSeconds
    }
    return times.min() ?? 0
  }
}
