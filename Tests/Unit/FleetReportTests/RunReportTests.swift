import OtaflashFirmware
import OtaflashFleet
import OtaflashFleetReport
import OtaflashFleetSamples
import Testing

/// Tests of reports of handwritten events.
@Suite struct RunReportTests {
  static func time(_ seconds: Double) -> WallClockTime {
    WallClockTime(milliseconds: 1_795_425_600_000 + Int64(seconds * 1000))
  }

  static func history(_ events: [(Double, FleetEvent)]) -> [RecordedEvent] {
    events.enumerated().map {
      RecordedEvent(number: $0 + 1, at: time($1.0), event: $1.1)
    }
  }

  static let lost = AttemptFailure(.link, code: "link-lost", words: "the link was lost at byte 7")
  static let figures = UpdateFigures(
    from: FirmwareVersion(1, 2, 0), to: FirmwareVersion(1, 3, 0), proof: "read-back",
    bytes: 40_000, uploadMilliseconds: 4000, resumes: 1)

  /// The bytes of patches are added up. Figures in stores without this value count as complete
  /// images.
  @Test func theSavingsFromPatchesAreReported() throws {
    var patched = Self.figures
    patched.made = 262_144
    func report(_ endings: [UpdateFigures]) throws -> RunReport {
      let names = endings.indices.map { "d\($0)" }
      let attempts = zip(names, endings).flatMap { Self.attempt($0, 1, 0, 9, .updated($1)) }
      return try #require(RunReport(Self.history(Self.beginning(names) + attempts)))
    }
    #expect(try report([Self.figures]).savings == nil)
    let report = try report([patched, Self.figures, patched])
    #expect(report.savings?.devices == 2 && report.savings?.made == 524_288)
    #expect(report.savings?.words == "2 devices received 80.0 kB for 524.3 kB of images")
    #expect(CSVReport.text(report).contains(",262144,,,,\r\n"))
  }

  static func beginning(_ devices: [String], waves: Int = 1) -> [(Double, FleetEvent)] {
    [
      (
        0,
        .runBegan(
          RunBeginning(
            id: "r", campaign: "c", digest: "d", devices: devices.count, waves: waves,
            waveRules: [WaveRule(Wave("all", .rest))]))
      ),
      (
        0,
        .wavePlanned(
          wave: 0, name: "all", devices: devices.map { RunDevice(id: $0, image: "i") })
      ),
      (0, .waveBegan(wave: 0)),
    ]
  }

  static func attempt(
    _ device: String, _ number: Int, _ begin: Double, _ end: Double, _ ending: AttemptEnding,
    on adapter: String = "hci0"
  ) -> [(Double, FleetEvent)] {
    [
      (begin, .devicePublished(device: device, attempt: number, verifyFirst: false)),
      (begin, .deviceClaimed(device: device, attempt: number, worker: "w")),
      (begin + 1, .devicePlaced(device: device, attempt: number, adapter: adapter)),
      (end, .attemptEnded(device: device, attempt: number, ending: ending)),
    ]
  }

  /// Two attempts on `a`, the first of which lost its link; the update of `b` is in progress.
  static let twoDevices =
    beginning(["a", "b"]) + attempt("a", 1, 0, 5, .failed(lost))
    + [(5, .deviceDeferred(device: "a", until: time(9)))]
    + attempt("b", 1, 6, 7, .failed(lost), on: "hci1").dropLast()
    + attempt("a", 2, 9, 21, .updated(figures), on: "hci1")
    + [(21, .deviceSettled(device: "a", ending: .updated))]

  @Test func aDeviceHasEveryAttempt() throws {
    let report = try #require(RunReport(Self.history(Self.twoDevices)))
    let device = report.devices[0]
    #expect(device.attempts.map(\.number) == [1, 2])
    #expect(device.attempts.map(\.adapter) == ["hci0", "hci1"])
    #expect(device.attempts.map(\.ended) == [Self.time(5), Self.time(21)])
    #expect(device.attempts[0].cause?.code == "link-lost" && !device.attempts[0].wasCutShort)
    #expect(device.from == FirmwareVersion(1, 2, 0) && device.to == FirmwareVersion(1, 3, 0))
    #expect(device.proof == "read-back" && device.outcome == .succeeded)
    #expect(device.adapter == "hci1" && device.settled == Self.time(21))
    #expect(report.devices[1].outcome == .running)
    #expect(report.state == .running && report.events == 16 && report.milliseconds == 21_000)
  }

  @Test func anAdapterHasItsBusyTimesAndItsMaximumOfAttempts() throws {
    let report = try #require(RunReport(Self.history(Self.twoDevices)))
    #expect(report.adapters.map(\.name) == ["hci0", "hci1"])
    #expect(report.adapters[0].busyMilliseconds == 4000 && report.adapters[0].mostAtOnce == 1)
    // An attempt in progress extends to the last event.
    #expect(report.adapters[1].busy == [Self.time(7)..<Self.time(21)])
    #expect(report.adapters[1].mostAtOnce == 2 && report.adapters[1].bytes == 40_000)
  }

  /// 40,000 bytes are distributed over the four seconds before the activation, or before the end if
  /// there is no activation.
  @Test func bytesAreDistributedOverTheUpload() throws {
    var events = Self.twoDevices
    events.insert((15, .deviceActivating(device: "a", attempt: 2)), at: events.count - 2)
    let report = try #require(RunReport(Self.history(events)))
    let rates = report.throughput.rates(over: Self.time(0)..<Self.time(20), bins: 10)
    let rounded: [Double] = rates.map { $0.rounded() }
    #expect(rounded == [0, 0, 0, 0, 0, 5000, 10_000, 5000, 0, 0])
    #expect(report.throughput.bytes == 40_000 && report.throughput.untold == 1)
    let without = try #require(RunReport(Self.history(Self.twoDevices)))
    #expect(without.throughput.transfers.map(\.until) == [Self.time(21)])
    let all = without.throughput.rates(over: Self.time(0)..<Self.time(21), bins: 7)
    #expect(abs(all.reduce(0, +) * 3 - 40_000) < 1, "the last interval has all its bytes")
  }

  @Test func failuresAreGroupedByCauseAndResolvedFailuresAreSeparate() throws {
    let rejected = AttemptFailure(.device, code: "image-rejected", words: "rejected")
    let other = AttemptFailure(.device, code: "moon", words: "the moon was full")
    var events = Self.beginning(["a", "b", "c", "d", "e"])
    events += Self.attempt("a", 1, 0, 5, .failed(Self.lost))
    events += Self.attempt("a", 2, 9, 21, .updated(Self.figures))
    events += [(21, .deviceSettled(device: "a", ending: .updated))]
    for device in ["b", "c"] {
      events += Self.attempt(device, 1, 22, 23, .failed(rejected))
      events += [(23, .deviceSettled(device: device, ending: .failed(rejected)))]
    }
    events += Self.attempt("d", 1, 24, 25, .failed(other))
    events += [(25, .deviceSettled(device: "d", ending: .failed(other)))]
    events += [(26, .deviceSettled(device: "e", ending: .absent))]
    let report = try #require(RunReport(Self.history(events)))
    #expect(report.failures.map(\.cause.code) == ["image-rejected", "moon", "absent", "link-lost"])
    #expect(report.failures.map(\.devices) == [[1, 2], [3], [4], []])
    #expect(report.failures.map(\.overcome) == [0, 0, 0, 1])
    #expect(report.failures[0].cause.title == "The device rejected the image")
    #expect(report.failures[1].cause.title == "the moon was full")
    #expect(report.failures.allSatisfy { $0.cause.remedy.hasSuffix(".") })
  }

  @Test func theHeadlineStatesCountsAndEvidence() throws {
    func headline(_ endings: [DeviceEnding]) throws -> String {
      var events = Self.beginning(endings.indices.map { "d\($0)" })
      for (index, ending) in endings.enumerated() {
        if ending == .updated {
          events += Self.attempt("d\(index)", 1, 1, 2, .updated(Self.figures))
        }
        events += [(3, .deviceSettled(device: "d\(index)", ending: ending))]
      }
      return try #require(RunReport(Self.history(events))).headline
    }
    let failed = DeviceEnding.failed(Self.lost)
    #expect(
      try headline([.updated, .updated, failed, failed, .absent])
        == "2 of 5 devices run 1.3.0, verified by read-back; 2 failed, 1 was not found")
    #expect(try headline([.updated, .updated]) == "All 2 devices run 1.3.0, verified by read-back")
    #expect(try headline([.updated]) == "1 of 1 device runs 1.3.0, verified by read-back")
    #expect(try headline([failed]) == "0 of 1 device run the new image; 1 failed")
    let report = try #require(RunReport(Self.history(Self.twoDevices)))
    #expect(report.headline == "1 of 2 devices runs 1.3.0, verified by read-back; 1 is in progress")
  }

  @Test func aWaveStatesItsDecisionAndOperator() throws {
    let events =
      Self.beginning(["a"]) + [
        (5, .deviceSettled(device: "a", ending: .failed(Self.lost))),
        (5, .waveJudged(wave: 0, verdict: .stop(failures: 1, of: 1))),
        (5, .runEnded(.stopped(wave: 0))),
      ]
    let report = try #require(RunReport(Self.history(events)))
    #expect(report.waves[0].verdictWords == "stopped: 1 of 1 device failed")
    #expect(
      report.waves[0].ruleWords
        == "success at 80 %, stops at 1 failure, verdict needs 50 % with an outcome")
    #expect(report.stateWords == "stopped by failures in wave all")
  }

  @Test func pausesHaveAReasonAndATime() throws {
    let reason = PauseReason.infrastructure(failures: 20, words: "the adapter was disconnected")
    let events =
      Self.beginning(["a"]) + [
        (5, .runPaused(because: reason)), (9, .runResumed), (12, .runPaused(because: .asked)),
      ]
    let report = try #require(RunReport(Self.history(events)))
    #expect(report.pauses.map(\.reason) == [reason, .asked])
    #expect(report.pauses.map(\.until) == [Self.time(9), nil])
    #expect(report.state == .paused(.asked))
    #expect(
      report.words(of: reason)
        == "20 consecutive attempts failed on the host: the adapter was disconnected")
  }

  /// An expired claim is a separate attempt; a process that died leaves no cause.
  @Test func anAttemptOfAKilledProcessIsNotAFailure() throws {
    var events = Self.beginning(["a"])
    events += [
      (0, .devicePublished(device: "a", attempt: 1, verifyFirst: false)),
      (0, .deviceClaimed(device: "a", attempt: 1, worker: "w1")),
      (1, .devicePlaced(device: "a", attempt: 1, adapter: "hci0")),
      (46, .claimExpired(device: "a", attempt: 1)),
      (47, .deviceClaimed(device: "a", attempt: 1, worker: "w2")),
      (50, .attemptEnded(device: "a", attempt: 1, ending: .returned(.holderGone))),
    ]
    let report = try #require(RunReport(Self.history(events)))
    #expect(report.devices[0].attempts.map(\.number) == [1, 1])
    #expect(report.devices[0].attempts.allSatisfy { $0.wasCutShort && $0.cause == nil })
    #expect(report.workers == ["w1", "w2"] && report.failures.isEmpty)
    #expect(report.devices[0].outcome == .waiting)
  }

  @Test func aDeviceThatTheRunDidNotReachIsNotComplete() throws {
    let events = Self.beginning(["a"]) + [(5, .runCancelled), (5, .runEnded(.cancelled))]
    let report = try #require(RunReport(Self.history(events)))
    #expect(report.devices[0].outcome == .leftOut && report.stateWords == "cancelled")
    #expect(report.headline == "0 of 1 device run the new image; 1 was not completed")
  }

  @Test func theSamplesAreValidRuns() throws {
    for devices in [3, 60, 1000] {
      let report = try #require(RunReport(SampleRun(devices: devices, adapters: 3).history()))
      #expect(report.devices.count == devices && report.counts[.waiting] == 0)
      if case .ended = report.state {} else { Issue.record("\(devices): \(report.state)") }
      #expect(report.waves.allSatisfy { $0.counts.total == $0.devices.count })
    }
  }
}
