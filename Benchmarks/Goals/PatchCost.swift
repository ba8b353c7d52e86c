import Glibc
import OtaflashDelta
import OtaflashSampleFirmware
import OtaflashSimulation

/// What it costs this process to make a patch, and what it costs PyPI's detools: the same images and
/// settings, one after the other.
struct PatchCost {
  struct NoAnswer: Error {}

  /// Of processor time; the quickest counts.
  private static let rounds = 3
  private static let secondsLimit = 1.5
  private static let megabytesLimit = 64.0
  private static let factor = 2.0

  /// Python that has detools, and the script that runs it; `nil` = it cannot be had.
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
        what: "making what is sent instead of 512 KiB, every codec tried, applied and compared",
        wanted: "≤ 1.5 s of processor time and ≤ 64 MB",
        measured: "\(Figure.fixed(chosen, digits: 2)) s; \(Figure.fixed(megabytes)) MB, the images "
          + "among them", isMet: chosen <= Self.secondsLimit && megabytes <= Self.megabytesLimit),
      try comparison(ours, pair),
    ]
  }

  private static func planner(of image: [UInt8]) -> DeliveryPlanner {
    DeliveryPlanner(
      image: image,
      abilities: DecoderAbilities(
        hasCRLE: true, largestWindow: 10, largestLookahead: 10, pageSize: 4096),
      conditions: DeliveryConditions(octetsPerSecond: 20_000, isErasedAhead: true))
  }

  private func comparison(_ ours: Double, _ pair: RelinkedFirmware) throws -> Goal {
    let what = "one patch of it, heatshrink 10,8, against PyPI's detools 0.53.0"
    let wanted = "≤ 2 times its processor time"
    guard let detools else {
      return Goal(
        what: what, wanted: wanted, measured: "not measured: detools cannot be installed",
        isMet: false)
    }
    let theirs = try Self.cost(ofDetools: detools.python, detools.script, pair)
    return Goal(
      what: what, wanted: wanted,
      measured: "\(Figure.fixed(ours / theirs, digits: 2)) times "
        + "(\(Figure.fixed(ours, digits: 2)) s against \(Figure.fixed(theirs, digits: 2)) s)",
      isMet: ours <= Self.factor * theirs)
  }

  private static func cost(
    ofDetools python: String, _ script: String, _ pair: RelinkedFirmware
  ) throws -> Double {
    let files = ["old", "new"].map { "/tmp/otaflash-goals-\(getpid())-\($0).bin" }
    defer { for file in files { unlink(file) } }
    for (path, octets) in zip(files, [pair.old, pair.new]) {
      guard let file = fopen(path, "wb") else { throw NoAnswer() }
      defer { fclose(file) }
      guard fwrite(octets, 1, octets.count, file) == octets.count else { throw NoAnswer() }
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
