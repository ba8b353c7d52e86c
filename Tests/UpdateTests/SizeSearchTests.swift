import OtaflashATT
import OtaflashFirmware
import OtaflashGATT
import OtaflashSimulation
import Synchronization
import Testing

@testable import OtaflashUpdate

/// Sizes of data writes that are tried over a link whose host knows too little of it.
@Suite struct SizeSearchTests {
  private static let fast = "fast?phy=2M&interval=15ms&mtu=498&ring=16K"

  /// What was kept, by the setting.
  private final class Notebook: Sendable {
    let kept = Mutex<[SizeMemory.Setting: SizeMemory.Size]>([:])

    var memory: SizeMemory {
      SizeMemory(
        recall: { setting in self.kept.withLock { $0[setting] } },
        keep: { setting, size in self.kept.withLock { $0[setting] = size } })
    }
  }

  private struct Run {
    let result: UpdateResult
    let reports: [SizeReport]
    /// Bytes of the last full data write.
    let chunk: Int
    var rate: Double { Double(result.bytesSent) / (result.uploadTook / .seconds(1)) }
  }

  /// - Parameters:
  ///   - hides: the host does not know the interval.
  ///   - gap: microseconds of each connection event that are not used.
  private static func flash(
    _ size: Int, onto text: String, hides: Bool = true, gap: Int = 0,
    _ adjust: (inout UpdateOptions) -> Void = { _ in }
  ) throws -> Run {
    var options = UpdateOptions()
    adjust(&options)
    var profile = try SimulationProfile(parsing: text)
    profile.settings.radio.endOfEventReserveMicroseconds += gap
    let (settings, log) = (options, EventLog())
    let writes = WriteLog()
    let timeline = VirtualTimeline()
    let board = try SimulatedBoard(profile: profile, clock: timeline.clock)
    let image = UpdateTests.image(size: size)
    let outcome = try timeline.run(limit: .seconds(3600)) { clock in
      await withTaskGroup(of: Result<UpdateResult, UpdateFault>?.self) { group in
        group.addTask {
          await board.run()
          return nil
        }
        group.addTask {
          let dialer = Dialer { () async throws(ConnectFault) -> any Link in
            RadioLink(try await board.dial(), hides: hides, writes)
          }
          let update = FirmwareUpdate(image: image, options: settings) { log.note($0) }
          do throws(UpdateFault) {
            return .success(try await update.run(on: dialer, clock: clock))
          } catch {
            return .failure(error)
          }
        }
        var result: Result<UpdateResult, UpdateFault>?
        while result == nil, let finished = await group.next() { result = finished }
        group.cancelAll()
        return result ?? .failure(.noUpdateService)
      }
    }
    let reports = log.all.compactMap { event in
      if case .sized(let report) = event { report } else { nil as SizeReport? }
    }
    return Run(
      result: try outcome.get(), reports: reports,
      chunk: writes.bytes.dropLast().last ?? 0)
  }

  /// A host that does not know the interval finds the size that it would have chosen by it. What
  /// that costs is what the other sizes bring less, once.
  @Test func hiddenIntervalsAreFoundOut() throws {
    let (size, notebook) = (262_144, Notebook())
    let known = try Self.flash(size, onto: Self.fast, hides: false)
    let hidden = try Self.flash(size, onto: Self.fast) { $0.sizes = notebook.memory }
    #expect(known.reports.isEmpty)
    #expect(hidden.reports.count == 1 && hidden.reports.first?.kept.chunk == known.chunk)
    #expect(hidden.chunk == known.chunk)
    #expect(hidden.rate >= known.rate * 0.97, "\(hidden.rate) against \(known.rate) B/s")
    // The next update knows.
    let next = try Self.flash(size, onto: Self.fast) { $0.sizes = notebook.memory }
    #expect(next.reports.map(\.isRemembered) == [true] && next.chunk == known.chunk)
    #expect(next.rate >= known.rate * 0.995, "\(next.rate) against \(known.rate) B/s")
  }

  /// A controller that leaves a fifth of each event unused: no model knows.
  @Test func gapsAreTriedAgainst() throws {
    let found = try Self.flash(400_000, onto: Self.fast, hides: false, gap: 3000)
    let model = try Self.flash(400_000, onto: Self.fast, hides: false, gap: 3000) {
      $0.triesSizes = false
    }
    #expect(found.reports.count == 1 && model.reports.isEmpty)
    #expect(found.rate >= model.rate, "\(found.rate) against \(model.rate) B/s")
  }

  /// What was remembered of a better link is tried anew.
  @Test func aRememberedSizeThatDoesWorseIsTriedAnew() throws {
    let notebook = Notebook()
    _ = try Self.flash(300_000, onto: Self.fast) { $0.sizes = notebook.memory }
    let better = try #require(notebook.kept.withLock { $0.values.first })
    let worse = try Self.flash(300_000, onto: Self.fast, gap: 4000) { $0.sizes = notebook.memory }
    #expect(worse.reports.map(\.isRemembered) == [true, false])
    let kept = try #require(notebook.kept.withLock { $0.values.first })
    #expect(kept.bytesPerSecond < better.bytesPerSecond * 0.9)
  }

  /// Where the flash is the limit, no size of writes is.
  @Test(arguments: [
    "plain?phy=2M&interval=15ms", "fast?phy=2M&interval=15ms&erase=85ms&write=20ms",
  ])
  func flashThatIsTheLimitChangesNothing(_ profile: String) throws {
    let notebook = Notebook()
    let run = try Self.flash(210_000, onto: profile) { $0.sizes = notebook.memory }
    let blind = try Self.flash(210_000, onto: profile) { $0.triesSizes = false }
    #expect(run.reports.isEmpty && run.chunk == blind.chunk)
    #expect(notebook.kept.withLock { $0.isEmpty })
  }

  @Test func whatIsSettledIsNotTried() throws {
    let settled: [@Sendable (inout UpdateOptions) -> Void] = [
      { $0.chunk = 300 }, { $0.mode = .withResponse },
    ]
    for settle in settled {
      let run = try Self.flash(210_000, onto: Self.fast, settle)
      #expect(run.reports.isEmpty)
    }
  }

  /// A link that is lost in the middle of a trial leaves what is known, and nothing is tried twice.
  @Test func aLostLinkEndsATrial() throws {
    let run = try Self.flash(262_144, onto: Self.fast + "&cut-at-pdu=150")
    #expect(run.result.resumes == 1 && run.reports.isEmpty && run.result.isVerified)
  }

  /// The bytes of the data writes, in order.
  private final class WriteLog: Sendable {
    private let all = Mutex<[Int]>([])
    var bytes: [Int] { all.withLock { $0 } }
    func note(_ bytes: Int) { all.withLock { $0.append(bytes) } }
  }

  /// The host's end of a link over a real radio, as far as it knows.
  private final class RadioLink: Link {
    private let base: any Link
    private let hides: Bool
    private let writes: WriteLog

    init(_ base: any Link, hides: Bool, _ writes: WriteLog) {
      (self.base, self.hides, self.writes) = (base, hides, writes)
    }

    var maximumPDUSize: Int { base.maximumPDUSize }
    var security: AttributeSecurity { base.security }

    var facts: LinkFacts {
      var facts = base.facts
      facts.usesRadio = true
      if hides { facts.connectionInterval = nil }
      return facts
    }

    func raiseSecurity(to wanted: AttributeSecurity) async throws(SecurityFault) {
      try await base.raiseSecurity(to: wanted)
    }

    func send(_ pdu: [UInt8]) async throws(LinkLoss) {
      if [0x52, 0x12].contains(pdu.first), pdu.count > 7 + 16 { writes.note(pdu.count - 7) }
      try await base.send(pdu)
    }

    func receive() async throws(LinkLoss) -> [UInt8] { try await base.receive() }

    func close() { base.close() }
  }
}
