import OtaflashATT
import OtaflashDevices
import OtaflashFirmware
import OtaflashGATT
import OtaflashSimulation
import OtaflashUpdate
import Synchronization
import Testing

/// The detection of builds, with a scripted file in virtual time.
@Suite struct BuildWatchTests {
  /// A file whose content changes at scripted times; `nil` = the file does not exist.
  private struct ScriptedFile: WatchedFile {
    let clock: VirtualClock
    let states: [(at: Duration, content: [UInt8]?)]
    /// Whether the kernel reports changes; otherwise the watch compares the file.
    var isReported = true
    var isHeldOpen = false

    private var current: (number: Int, at: Duration, content: [UInt8]?) {
      let past = states.enumerated().last { $0.element.at <= clock.now.elapsed }
      return past.map { ($0.offset, $0.element.at, $0.element.content) } ?? (0, .zero, nil)
    }

    func stamp() -> FileStamp? {
      let current = current
      return current.content.map { FileStamp(size: $0.count, changed: current.number + 1) }
    }

    func content() -> [UInt8]? { current.content }

    /// If `isHeldOpen` is set, the writer of each state with an odd number keeps the file open.
    func isOpenForWriting() -> Bool { isHeldOpen && current.number.isMultiple(of: 2) == false }

    func age(of stamp: FileStamp) -> Duration {
      clock.now.elapsed - states[stamp.changed - 1].at
    }

    func waitForChange(atMost limit: Duration) async -> Bool {
      let now = clock.now.elapsed
      let next = isReported ? states.map(\.at).first { $0 > now } : nil
      return await clock.pause(for: min(limit, next.map { $0 - now } ?? limit))
    }
  }

  private struct Broken: Error, Equatable { let size: Int }

  private final class Recorder: Sendable {
    let log = Mutex(Log())
  }

  private struct Log: Equatable, Sendable {
    var builds: [Build] = []
    var remarks: [String] = []

    struct Build: Equatable, Sendable {
      var size: Int
      var at: Duration
      var changed: Duration
    }
  }

  /// Watches until `count` builds are complete or the time is over. Files of odd size are broken.
  private static func watch(
    _ states: [(Duration, [UInt8]?)], builds count: Int, isReported: Bool = true,
    isHeldOpen: Bool = false, limit: Duration = .seconds(30)
  ) throws -> Log {
    try VirtualTimeline().run { clock in
      let file = ScriptedFile(
        clock: clock, states: states.map { (at: $0.0, content: $0.1) }, isReported: isReported,
        isHeldOpen: isHeldOpen)
      let recorder = Recorder()
      await withTaskGroup(of: Void.self) { group in
        group.addTask {
          var watch = BuildWatch(file, clock: clock)
          for _ in 0..<count {
            let build = await watch.next(
              remark: { (remark: BuildRemark<Broken>) in
                recorder.log.withLock { $0.remarks.append(Self.words(remark)) }
              },
              { () throws(Broken) in
                let size = file.content()?.count ?? 0
                guard size.isMultiple(of: 2) else { throw Broken(size: size) }
                return size
              })
            guard let build else { return }
            recorder.log.withLock {
              $0.builds.append(
                Log.Build(
                  size: build.value, at: clock.now.elapsed, changed: build.changed.elapsed))
            }
          }
        }
        group.addTask { await clock.pause(for: limit) }
        await group.next()
        group.cancelAll()
      }
      return recorder.log.withLock { $0 }
    }
  }

  private static func words(_ remark: BuildRemark<Broken>) -> String {
    switch remark {
    case .inProgress(let bytes): "in progress \(bytes ?? -1)"
    case .skipped(let fault): "skipped \(fault.size)"
    case .unchanged: "unchanged"
    }
  }

  @Test func theFileAtTheStartIsNoBuild() throws {
    #expect(try Self.watch([(.zero, [1, 2])], builds: 1) == Log())
  }

  @Test(arguments: [true, false])
  func aNewFileIsABuildWhenItHasSettled(isReported: Bool) throws {
    let log = try Self.watch(
      [(.zero, [1, 2]), (.seconds(5), [1, 2, 3, 4])], builds: 1, isReported: isReported)
    let build = try #require(log.builds.first)
    #expect(build.size == 4 && build.changed == .seconds(5))
    let wait = build.at - build.changed
    #expect(
      wait >= BuildWatch.settling && wait <= (isReported ? .milliseconds(100) : .seconds(1.1)))
  }

  /// A linker writes for two seconds, with pauses that are shorter than `settling`.
  @Test func aFileThatIsBeingWrittenIsReportedOnceAndWaitedFor() throws {
    let writes = (1...40).map { step in
      (Duration.seconds(5) + .milliseconds(50) * step, [UInt8]?(Array(repeating: 7, count: step)))
    }
    let log = try Self.watch([(.zero, [1])] + writes, builds: 1)
    #expect(log.builds.map(\.size) == [40])
    #expect(log.builds.first?.changed == .seconds(7))
    #expect(log.remarks.count == 1 && log.remarks[0].hasPrefix("in progress"))
  }

  /// A build tool sleeps for two seconds while the file is open.
  @Test func aFileThatIsOpenForWritingIsNotComplete() throws {
    let log = try Self.watch(
      [(.zero, [1, 2]), (.seconds(1), [3, 4]), (.seconds(3), [3, 4, 5, 6])], builds: 1,
      isHeldOpen: true)
    #expect(log.builds.map(\.size) == [4] && log.remarks == ["in progress 2"])
  }

  /// The first half is on disk for 0.4 s, which is longer than `settling`.
  @Test func aBrokenFileThatChangesAgainIsNotReported() throws {
    let log = try Self.watch(
      [(.zero, nil), (.seconds(1), [1]), (.milliseconds(1400), [1, 2])], builds: 1)
    #expect(log.builds.map(\.size) == [2] && log.remarks.isEmpty)
  }

  @Test func aBrokenBuildIsSkippedAndTheNextOneCounts() throws {
    let log = try Self.watch(
      [(.zero, [1, 2]), (.seconds(2), [1, 2, 3]), (.seconds(9), [1, 2, 3, 4])], builds: 1)
    #expect(log.remarks == ["skipped 3"])
    #expect(log.builds.map(\.size) == [4])
  }

  @Test func aMissingFileIsReportedOnlyAfterSomeTime() throws {
    let quick = try Self.watch(
      [(.zero, [1, 2]), (.seconds(2), nil), (.milliseconds(2300), [3, 4])], builds: 1)
    #expect(quick.remarks.isEmpty && quick.builds.map(\.size) == [2])
    let slow = try Self.watch(
      [(.zero, [1, 2]), (.seconds(2), nil), (.seconds(6), [3, 4])], builds: 1)
    #expect(slow.remarks == ["in progress -1"] && slow.builds.map(\.size) == [2])
  }

  @Test func theSameContentIsNotFlashedAgain() throws {
    let log = try Self.watch([(.zero, [1, 2]), (.seconds(2), [1, 2])], builds: 1)
    #expect(log == Log(remarks: ["unchanged"]))
  }

  // MARK: The complete loop

  /// Measures the time from the change of the file to the running image on a simulated board.
  @Test func theWatchAddsAtMostThreeTenthsOfASecondToAnUpdate() throws {
    let image = FirmwareImage(
      name: "build.bin", format: .binary,
      bytes: (0..<100_000).map { UInt8(truncatingIfNeeded: $0 &* 31 >> 3) },
      version: FirmwareVersion(1, 3, 0), hardware: HardwareID(0x0000_A001))
    let timeline = VirtualTimeline()
    let board = try SimulatedBoard(
      profile: SimulationProfile(parsing: "sim:"), clock: timeline.clock)
    let change = Duration.seconds(3)
    let (total, times, took) = try timeline.run { clock in
      await withTaskGroup(of: Void.self) { group in
        group.addTask { await board.run() }
        defer { group.cancelAll() }
        let file = ScriptedFile(clock: clock, states: [(.zero, nil), (change, image.bytes)])
        var watch = BuildWatch(file, clock: clock)
        let build = await watch.next(remark: { (_: BuildRemark<Broken>) in }) {
          () throws(Broken) in image
        }
        let times = BuildTimes()
        let update = FirmwareUpdate(image: build?.value ?? image) { times.observe($0) }
        let dialer = Dialer { () async throws(ConnectFault) -> any Link in try await board.dial() }
        var took = Duration.zero
        do { took = try await update.run(on: dialer, clock: clock).took } catch {
          Issue.record("\(error)")
        }
        return (clock.now.elapsed - change, times, took)
      }
    }
    #expect(times.transfer > .zero && times.restart > .zero)
    #expect(total - took <= .milliseconds(300))
    // The rest of the update is the connection: MTU, discovery and the state of the device, 14
    // requests that each take two connection intervals (0.42 s).
    #expect(
      total - times.transfer - times.restart <= .milliseconds(600),
      "\(total), transfer \(times.transfer), restart \(times.restart), update \(took)")
  }
}
