import OtaflashFirmware
import OtaflashFleet

/// The events of an invented run, drawn from a seed: devices over adapters, with failures of every
/// kind. The sequence of its events is simple; `FleetRun` checks that the sequence is permitted.
package struct SampleRun {
  package var devices: Int
  package var adapters: Int
  package var places = 4
  package var seed: UInt64 = 1
  /// The share of devices whose update fails, 0…1.
  package var bad = 0.02
  package var absent = 0.02
  /// The share of attempts with a lost link, 0…1.
  package var linkLoss = 0.08
  /// The names of the first devices, in order.
  package var names: [String] = []
  package var sites: [String?] = [nil]
  /// The rate of a link in bytes per second.
  package var rate = 14_000.0
  /// The id of the run.
  package var id = "k3f9"
  package var campaign = "doors-2026-11"
  package var startedBy: String? = "anna@line-3"

  package static let began = WallClockTime(milliseconds: 1_795_425_600_000)
  private static let imageSize = 65_536
  private static let version = FirmwareVersion(1, 3, 0)

  package init(devices: Int, adapters: Int) {
    self.devices = devices
    self.adapters = adapters
  }

  /// Names that a page, a table and a schema must be able to represent.
  package static let hostileNames = [
    "<script>alert(1)</script>", "\"><img src=x onerror=alert(1)>", "'; alert(1); '",
    "</title><script>alert(1)</script>", "--><svg onload=alert(1)>", "]]></testcase>",
    "right\u{202E}tfel\u{2066}", "bell\u{7}null\u{0}esc\u{1B}[31m", "=HYPERLINK(\"http://x\")",
    "+1", "-1", "@SUM(1)", "\"\u{308}\u{308} onmouseover=alert(1) x=\"\u{308}", "{{#devices}}{{.}}",
    "two\r\nlines", String(repeating: "long", count: 200), "\u{FFFE}\u{FFFF}", "{{{script}}}",
    "a" + String(repeating: "\u{301}", count: 3000), "&lt;b&gt; &amp;", "日本語 الباب 🚪",
  ]

  // MARK: Chance

  private struct Chance {
    var state: UInt64

    mutating func fraction() -> Double {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return Double(state >> 11) / Double(UInt64.max >> 11)
    }

    mutating func milliseconds(_ range: ClosedRange<Double>) -> Int64 {
      Int64(range.lowerBound + fraction() * (range.upperBound - range.lowerBound))
    }
  }

  // MARK: Events

  private struct Timeline {
    var entries: [(at: Int64, order: Int, event: FleetEvent)] = []

    mutating func add(_ event: FleetEvent, _ at: Int64) {
      entries.append((at, entries.count, event))
    }

    var history: [RecordedEvent] {
      entries.sorted { ($0.at, $0.order) < ($1.at, $1.order) }.enumerated().map {
        RecordedEvent(
          number: $0 + 1, at: WallClockTime(milliseconds: $1.at), event: $1.event)
      }
    }
  }

  private struct Turn: Comparable {
    let at: Int64
    let device: Int
    let attempt: Int

    static func < (left: Turn, right: Turn) -> Bool {
      (left.at, left.device) < (right.at, right.device)
    }
  }

  /// The events of the complete run.
  package func history() -> [RecordedEvent] {
    var chance = Chance(state: seed)
    var timeline = Timeline()
    let start = Self.began.milliseconds
    let waves = self.waves()
    var beginning = RunBeginning(
      id: id, campaign: campaign, digest: "d", devices: devices, waves: waves.count,
      startedBy: startedBy)
    beginning.images = [
      RunImage(
        digest: "9f2c01aa77", name: "door-1.3.0.bin", version: "1.3.0", size: Self.imageSize,
        sha256: String(repeating: "4f", count: 32))
    ]
    beginning.files = [
      RunFile(.campaign, name: campaign + ".yaml", sha256: String(repeating: "5a", count: 32)),
      RunFile(.deviceKey, name: "door.key"),
    ]
    beginning.settings = [
      RunSetting("window", "always open"), RunSetting("overrides", "allow-downgrade"),
      RunSetting("hook before-device", "./fetch-key --quiet"),
    ]
    beginning.waveRules = waves.map { WaveRule($0.wave) }
    timeline.add(.runBegan(beginning), start)
    for (index, planned) in waves.enumerated() {
      timeline.add(
        .wavePlanned(
          wave: index, name: planned.wave.name, devices: planned.devices.map(runDevice)), start)
    }
    var now = start + 200
    var failed = 0
    for (index, planned) in waves.enumerated() {
      timeline.add(.waveBegan(wave: index), now)
      var tally = WaveTally(size: planned.devices.count)
      now = work(on: planned.devices, from: now, &chance, &timeline, &tally)
      if planned.wave.soak > .zero {
        let until = now + planned.wave.soak.wholeMilliseconds
        timeline.add(
          .waveSoaking(wave: index, until: WallClockTime(milliseconds: until)), now)
        now = until
      }
      let verdict = tally.verdict(by: planned.wave.thresholds)
      failed += tally.size - tally.succeeded
      timeline.add(.waveJudged(wave: index, verdict: verdict), now)
      if verdict != .continue, index < waves.count - 1 {
        timeline.add(.runEnded(.stopped(wave: index)), now)
        return timeline.history
      }
      if planned.wave.needsApproval {
        timeline.add(.approvalAwaited(wave: index), now)
        now += 240_000
        let action = OperatorAction(
          .approve, by: startedBy ?? "bo", reason: "\(campaign) looks good")
        timeline.add(.operatorActed(action), now)
        timeline.add(.waveApproved(wave: index), now)
      }
    }
    timeline.add(.runEnded(.complete(failed: failed)), now)
    return timeline.history
  }

  private func waves() -> [(wave: Wave, devices: Range<Int>)] {
    let lenient = WaveThresholds(successPercent: 70, stop: .percent(30), seenPercent: 50)
    guard devices > 5 else { return [(Wave("all", .rest, thresholds: lenient), 0..<devices)] }
    let canary = max(devices / 20, 3)
    let half = max(devices / 2, canary + 1)
    return [
      (
        Wave(
          "canary", .count(canary), thresholds: lenient, soak: .seconds(60), needsApproval: true),
        0..<canary
      ),
      (Wave("half", .percent(50), thresholds: lenient, soak: .seconds(30)), canary..<half),
      (Wave("rest", .rest, thresholds: lenient), half..<devices),
    ]
  }

  private func runDevice(_ number: Int) -> RunDevice {
    let digits = String(0xC0FF_EE00_0000 + number, radix: 16, uppercase: true)
    let id = stride(from: 0, to: 12, by: 2).map { String(digits.dropFirst($0).prefix(2)) }
      .joined(separator: ":")
    let isNamed = number < names.count
    return RunDevice(
      id: id, name: isNamed ? names[number] : "door \(number + 1)",
      board: isNamed && !names.isEmpty ? names[number] : number % 3 == 0 ? "door-v1" : "door-v2",
      site: sites[number % sites.count], image: "9f2c01aa77")
  }

  /// Updates the devices of a wave until all have an outcome; returns the time of the last outcome.
  private func work(
    on devices: Range<Int>, from start: Int64, _ chance: inout Chance,
    _ timeline: inout Timeline, _ tally: inout WaveTally
  ) -> Int64 {
    var turns = BinaryHeap<Turn>()
    for device in devices { turns.insert(Turn(at: start, device: device, attempt: 1)) }
    var free = BinaryHeap<Turn>()
    for place in 0..<(adapters * places) {
      free.insert(Turn(at: start + Int64(place % 7) * 30, device: place, attempt: 0))
    }
    var last = start
    while let turn = turns.first, let place = free.first {
      turns.removeFirst()
      free.removeFirst()
      let at = max(turn.at, place.at)
      let ends = attempt(
        turn, at: at, on: "hci\(place.device % adapters)", &chance, &timeline, &turns, &tally)
      free.insert(Turn(at: ends, device: place.device, attempt: 0))
      last = max(last, ends)
    }
    return last
  }

  private func attempt(
    _ turn: Turn, at: Int64, on adapter: String, _ chance: inout Chance,
    _ timeline: inout Timeline, _ turns: inout BinaryHeap<Turn>, _ tally: inout WaveTally
  ) -> Int64 {
    let id = runDevice(turn.device).id
    let attempt = turn.attempt
    let nature = fixedFraction(turn.device)
    timeline.add(.devicePublished(device: id, attempt: attempt, verifyFirst: false), at)
    timeline.add(.deviceClaimed(device: id, attempt: attempt, worker: "line-3:4711"), at)
    func settle(_ ending: DeviceEnding, _ moment: Int64) -> Int64 {
      timeline.add(.deviceSettled(device: id, ending: ending), moment)
      tally.count(ending)
      return moment
    }
    func again(_ ending: AttemptEnding, _ moment: Int64) -> Int64 {
      timeline.add(.attemptEnded(device: id, attempt: attempt, ending: ending), moment)
      let until = moment + (5000 << Int64(min(attempt, 5)))
      timeline.add(.deviceDeferred(device: id, until: WallClockTime(milliseconds: until)), moment)
      turns.insert(Turn(at: until, device: turn.device, attempt: attempt + 1))
      return moment
    }
    if nature < absent {
      let end = at + 2000
      guard attempt >= 3 else { return again(.returned(.notHeard), end) }
      timeline.add(
        .attemptEnded(device: id, attempt: attempt, ending: .returned(.notHeard)), end)
      return settle(.absent, end)
    }
    timeline.add(.devicePlaced(device: id, attempt: attempt, adapter: adapter), at + 40)
    let upload = Int64(Double(Self.imageSize) / (rate * (0.6 + 0.8 * chance.fraction())) * 1000)
    let sent = at + 700 + upload
    if nature < absent + bad {
      let failure = failure(of: turn.device)
      let end = failure.isFinal ? at + 900 : sent + 4000
      if !failure.isFinal { timeline.add(.deviceActivating(device: id, attempt: attempt), sent) }
      guard failure.isFinal || attempt >= 2 else { return again(.failed(failure), end) }
      timeline.add(
        .attemptEnded(device: id, attempt: attempt, ending: .failed(failure)), end)
      return settle(failure.isFinal ? .failed(failure) : .quarantined(failure), end)
    }
    if chance.fraction() < linkLoss, attempt < 4 {
      let failure = AttemptFailure(.link, code: "link-lost", words: "the link was lost")
      return again(.failed(failure), at + 700 + chance.milliseconds(500...Double(upload)))
    }
    if nature > 0.98 {
      let end = at + 800
      timeline.add(
        .attemptEnded(device: id, attempt: attempt, ending: .current(version: Self.version)), end)
      return settle(.current, end)
    }
    timeline.add(.deviceActivating(device: id, attempt: attempt), sent)
    let end = sent + chance.milliseconds(2500...5000)
    let figures = UpdateFigures(
      from: FirmwareVersion(1, UInt8(turn.device % 3), 0), to: Self.version, proof: "read-back",
      bytes: Self.imageSize + 512, uploadMilliseconds: upload,
      resumes: attempt > 1 ? 1 : 0)
    timeline.add(
      .attemptEnded(device: id, attempt: attempt, ending: .updated(figures)), end)
    return settle(.updated, end)
  }

  /// A number 0…1 that depends only on the device, and differs from the numbers of its neighbors.
  private func fixedFraction(_ device: Int) -> Double {
    // The golden ratio distributes even three devices over all outcomes.
    let value = (Double(device) + Double(seed) * 0.37) * 0.618_033_988_749_895
    return value - value.rounded(.down)
  }

  private func failure(of device: Int) -> AttemptFailure {
    switch device % 4 {
    case 0:
      AttemptFailure(
        .device, code: "reverted", words: "the device reverted the image and runs 1.2.0")
    case 1:
      AttemptFailure(
        .device, code: "wrong-key", words: "the key does not match the device", isFinal: true)
    case 2:
      AttemptFailure(.device, code: "image-rejected", words: "the device rejected the image")
    default:
      AttemptFailure(
        .device, code: "wrong-hardware", words: "the image is for door-v2", isFinal: true)
    }
  }
}
