import Foundation
import OtaflashDelta
import OtaflashFirmware
import OtaflashSimulation
import OtaflashSwarm
import OtaflashUpdate
import Testing

/// Tests, at selected offsets, that no fault leads to a violation; `make sweep` tests all offsets.
@Suite struct SweepTests {
  private static let samples = URL(fileURLWithPath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent()
    .appendingPathComponent("firmware-samples").path
  private static let cutsOfLargeImage = 6

  @Test func everySampleSurvivesACutAtAnyPDU() throws {
    let scenarios = try Samples.scenarios(in: Self.samples)
    #expect(scenarios.count == 15)
    for scenario in scenarios {
      let sweep = try CutSweep(scenario)
      let cuts =
        scenario.image.bytes.count < 10_000 ? sweep.all : sweep.chosen(Self.cutsOfLargeImage)
      for cut in cuts {
        let found = sweep.violations(cutAt: cut)
        #expect(found.isEmpty, "\(scenario.image.name) \(scenario.mode.rawValue) cut-at-pdu=\(cut)")
      }
    }
  }

  /// The swarm must draw every kind of the catalogue.
  @Test func theSwarmDrawsEveryKindOfDevice() throws {
    for (name, _) in SimulationProfile.catalogue {
      let device = try SimulationProfile(parsing: name).device
      #expect(device == .otaReceiver || Scenario.names(of: device).contains(name), "\(name)")
    }
  }

  /// The other kinds of devices must resume or restart, and must never run an incomplete image.
  @Test func everyKindOfDeviceSurvivesACut() throws {
    for scenario in try KindSamples.scenarios() {
      let sweep = try CutSweep(scenario)
      for cut in sweep.chosen(Self.cutsOfLargeImage) {
        let found = sweep.violations(cutAt: cut)
        #expect(found.isEmpty, "\(scenario.profile) cut-at-pdu=\(cut): \(found)")
      }
    }
  }

  /// Patches with parts of one page, with parts of several pages, and with a single part, while the
  /// link or the power fails.
  @Test func everyPatchSurvivesACutAndAReset() throws {
    let samples = try PatchSample.all()
    #expect(samples.count == 8)
    for sample in samples {
      let sweep = try CutSweep(sample.scenario)
      let name = "parts of \(sample.part), \(sample.scenario.mode), \(sample.scenario.profile)"
      #expect(sweep.delivery?.bytes == (try sample.bytes()), "\(name): other parts are sent")
      for cut in stride(from: 1, to: sweep.pdus, by: sweep.pdus / Self.cutsOfLargeImage) {
        #expect(sweep.violations(cutAt: cut).isEmpty, "\(name) cut-at-pdu=\(cut)")
      }
      for operation in stride(from: 1, to: sweep.operations, by: 7) {
        let found = sweep.violations(resetAt: operation, torn: operation.isMultiple(of: 2))
        #expect(found.isEmpty, "\(name) reset-at-flash-op=\(operation): \(found)")
      }
    }
  }

  @Test(arguments: RecordLie.allCases)
  func aCorruptedRecordNeverLeadsToAWrongImage(_ lie: RecordLie) throws {
    let sweep = try LyingRecordSweep(
      Scenario(profile: "fast?slot=32K", image: .drawn(size: 14_000)))
    #expect(sweep.operations > 30)
    for operation in 0...sweep.operations {
      let found = try sweep.violations(lie, at: operation)
      #expect(found.isEmpty, "\(lie.rawValue) after operation \(operation): \(found)")
    }
  }

  /// 256 combinations of lost PDUs and repetitions, combined with 16 of lost notifications.
  @Test func everyLossInAWindowOfFourIsRepaired() {
    let sweep = LossSweep(Scenario(profile: "fast?slot=16K&mtu=185", image: .drawn(size: 3000)))
    for commands in LossSweep.commandMasks {
      for notifications in LossSweep.notificationMasks {
        let found = sweep.violations(commands: commands, notifications: notifications, after: 4)
        #expect(found.isEmpty, "commands \(commands), notifications \(notifications): \(found)")
      }
    }
  }

  /// `make swarm` draws 10,000 seeds.
  @Test func aThousandSeedsEndCorrectly() throws {
    for seed: UInt64 in 1...1000 {
      let found = Judgement(of: try .swarm(seed: seed)).violations
      #expect(found.isEmpty, "replay: make replay SEED=\(seed): \(found)")
    }
  }

  /// A patch of few bytes for which many slow pages are written. The scenario is drawn from a seed,
  /// because its base is the image of the drawn board.
  @Test func aPatchOfFewBytesHasTimeForItsPages() throws {
    let found = Judgement(of: try .swarm(seed: 3980)).violations
    #expect(found.isEmpty, "replay: make replay SEED=3980: \(found)")
  }

  @Test func aSeedRepeatsTheSameRun() throws {
    for seed: UInt64 in [1, 2, 3, 4, 8, 12, 14, 20, 159, 160] {
      let endings = try (0..<2).map { _ in try Scenario.swarm(seed: seed).run() }
      #expect(endings[0].events == endings[1].events)
      #expect(endings[0].counters == endings[1].counters)
      #expect(endings[0].took == endings[1].took)
    }
  }
}

extension PatchSample {
  /// The number of bytes of the stream in parts of this size.
  fileprivate func bytes() throws -> Int {
    // The values that the receiver reports.
    let abilities = DecoderAbilities(
      hasCRLE: true, largestWindow: 10, largestLookahead: 10, pageSize: 4096)
    let image = scenario.image.bytes
    let planner = DeliveryPlanner(
      image: image, abilities: abilities, conditions: DeliveryConditions(bytesPerSecond: 1))
    let base = PatchBase(scenario.bases[0])
    let whole = planner.composed(
      against: base, partSize: image.count, codecs: abilities.codecs)
    if part >= image.count { return whole.bytes.count }
    let codecs = abilities.codecs.filter { $0 == .crle || whole.codecs.contains($0) }
    return planner.composed(against: base, partSize: part, codecs: codecs).bytes.count
  }
}
