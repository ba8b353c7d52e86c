import OtaflashFirmware
import OtaflashGATT
import OtaflashSimulation
import Testing

@testable import OtaflashUpdate

/// Tests of resources that are stored in a simulated watch.
@Suite struct ResourceUpdateTests {
  private static let package = resources()

  private static func refusal<Success>(
    _ result: Result<Success, UpdateFault>
  ) -> ProtocolRefusal? {
    if case .failure(.declined(_, let refusal)) = result { refusal } else { nil }
  }

  @Test func allFilesAreStoredAndReadBack() throws {
    let watch = try Watch()
    try watch.put([1, 2, 3], at: "/old.bin")
    let run = try watch.store(Self.package)
    let outcome = try run.result.get()
    #expect(outcome.sent == Self.package.files.map(\.path) && outcome.present.isEmpty)
    #expect(outcome.deleted == ["/old.bin"] && outcome.bytesSent == Self.package.size)
    #expect(outcome.connections == 1 && outcome.resumedFrom == 0)
    #expect(try watch.files() == Self.package.content)
    let stages = run.events.compactMap {
      if case .stageEnded(let stage, _) = $0 { stage } else { nil }
    }
    #expect(stages == [.prepare, .upload])
    let last = run.events.compactMap {
      if case .progress(let done, let total) = $0 { [done, total] } else { nil }
    }.last
    #expect(last == [Self.package.size, Self.package.size])
  }

  @Test func filesThatTheWatchHasAreNotSentAgain() throws {
    let watch = try Watch()
    _ = try watch.store(Self.package).result.get()
    let outcome = try watch.store(Self.package).result.get()
    #expect(outcome.sent.isEmpty && outcome.present.count == 3 && outcome.bytesSent == 0)
    #expect(outcome.deleted.isEmpty)
    let forced = try watch.store(Self.package) { $0.sendsAnyway = true }.result.get()
    #expect(forced.sent.count == 3 && forced.bytesSent == Self.package.size)
    #expect(try watch.files() == Self.package.content)
  }

  /// WRITE does not truncate a file. A shorter file must not keep the end of the longer file.
  @Test func aLongerFileIsReplaced() throws {
    let watch = try Watch()
    _ = try watch.store(resources(seed: 9, sizes: [5_000, 4_000, 9_000])).result.get()
    #expect(try watch.store(Self.package).result.get().sent.count == 3)
    #expect(try watch.files() == Self.package.content)
  }

  @Test func aFileOfTheSameSizeIsReplaced() throws {
    let watch = try Watch()
    for file in resources(seed: 9).files { try watch.put(file.bytes, at: file.path) }
    #expect(try watch.store(Self.package).result.get().sent.count == 3)
    #expect(try watch.files() == Self.package.content)
  }

  /// The firmware may still need the files that became obsolete in a later version.
  @Test func obsoleteFilesOfALaterVersionAreKept() throws {
    let watch = try Watch("version=1.0.0")
    try watch.put([1], at: "/old.bin")
    #expect(try watch.store(Self.package).result.get().deleted.isEmpty)
    #expect(try watch.files()["/old.bin"] == [1])
  }

  @Test func aDryRunChangesNothing() throws {
    let watch = try Watch()
    let outcome = try watch.store(Self.package) { $0.isDryRun = true }.result.get()
    #expect(outcome.sent.isEmpty && outcome.present.isEmpty)
    #expect(try watch.files().isEmpty)
  }

  // MARK: Interruptions

  /// The link is cut at every PDU; the same run reconnects and ends with the correct files. At no
  /// time does a path contain an incomplete file.
  @Test func aCutAtEveryPDUIsRepaired() throws {
    let package = resources(sizes: [500, 60, 300])
    let clean = try Watch().store(package)
    _ = try clean.result.get()
    for cut in 1...clean.pdus {
      let watch = try Watch()
      try watch.put([7], at: "/old.bin")
      let outcome = try watch.store(package, cutAt: cut).result.get()
      #expect(try watch.files() == package.content, "cut \(cut)")
      // A connection without a service does not count.
      #expect((1...2).contains(outcome.connections), "cut \(cut)")
      #expect(Set(outcome.sent).count == 3 && outcome.present.isEmpty, "cut \(cut)")
      #expect(outcome.deleted == ["/old.bin"] || outcome.deleted.isEmpty)
    }
  }

  /// The process ends at every PDU; the next process resumes, and each intermediate state contains
  /// only complete old or new files.
  @Test func aProcessThatEndsAtEveryPDUIsResumed() throws {
    let (old, new) = (resources(seed: 50, sizes: [700, 80, 90]), resources(sizes: [500, 60, 300]))
    var resumed = 0
    var cut = 1
    while true {
      let watch = try Watch()
      for file in old.files { try watch.put(file.bytes, at: file.path) }
      let first = try watch.store(new, cutAt: cut) { $0.reconnection = .none }
      if case .success = first.result { break }
      for (path, bytes) in try watch.files() where path != "/otaflash.part" {
        #expect(bytes == old.content[path] || bytes == new.content[path], "cut \(cut), \(path)")
      }
      let second = try watch.store(new).result.get()
      if second.resumedFrom > 0 { resumed += 1 }
      #expect(try watch.files() == new.content, "cut \(cut)")
      cut += 1
    }
    #expect(cut > 60 && resumed > 10, "\(cut) cuts, \(resumed) resumed")
  }

  @Test func aCancelledTransferResumes() throws {
    let watch = try Watch()
    let package = resources(sizes: [9_000, 10, 10])
    let first = try watch.store(package, after: .seconds(3))
    guard case .failure(.cancelled(resumable: true, let acknowledged)) = first.result else {
      Issue.record("\(first.result)")
      return
    }
    #expect(acknowledged > 1_000)
    let outcome = try watch.store(package).result.get()
    #expect(outcome.resumedFrom >= acknowledged)
    #expect(outcome.bytesSent == package.size - outcome.resumedFrom)
    #expect(try watch.files() == package.content)
  }

  @Test func anIncompleteFileOfAnotherPackageIsDiscarded() throws {
    let watch = try Watch()
    _ = try watch.store(resources(seed: 77, sizes: [9_000, 10, 10]), after: .seconds(3))
    #expect(try watch.files()["/otaflash.part"] != nil)
    let outcome = try watch.store(Self.package).result.get()
    #expect(outcome.resumedFrom == 0 && outcome.bytesSent == Self.package.size)
    #expect(try watch.files() == Self.package.content)
  }

  @Test func aRestartDiscardsTheIncompleteFile() throws {
    let watch = try Watch()
    let package = resources(sizes: [9_000, 10, 10])
    _ = try watch.store(package, after: .seconds(3))
    let outcome = try watch.store(package) { $0.startsOver = true }.result.get()
    #expect(outcome.resumedFrom == 0 && outcome.bytesSent == package.size)
    #expect(try watch.files() == package.content)
  }

  // MARK: Refusals

  @Test func aWatchWithoutPermissionIsReported() throws {
    let refusal = Self.refusal(try Watch("disabled=yes").store(Self.package).result)
    #expect(refusal == .filesNotPermitted && refusal?.kind == .forbidden)
    #expect(refusal?.advice.contains("open Settings, then Over-the-air") ?? false)
  }

  @Test func aWatchWithoutFilesIsReported() throws {
    let refusal = Self.refusal(try Watch("files=no").store(Self.package).result)
    #expect(refusal?.kind == .unsuitable && refusal?.advice.contains("1.11") ?? false)
  }

  @Test func aFullFileSystemIsReported() throws {
    let watch = try Watch("files=16K")
    let refusal = Self.refusal(try watch.store(resources(sizes: [30_000, 1, 1])).result)
    #expect(refusal?.kind == .doesNotFit)
  }

  @Test func aSmallMTUIsReported() throws {
    let refusal = Self.refusal(try Watch("mtu=23").store(Self.package).result)
    #expect(refusal?.kind == .unsuitable && refusal?.advice.contains("ATT_MTU") ?? false)
  }

  /// The permission "till reboot" ends with the restart of the firmware update.
  @Test func firmwareAndResourcesAreSentInSequence() throws {
    let image = try legacy(firmware(20_000, FirmwareVersion(1, 3, 0)), version: .init(1, 3, 0))
    for (settings, isPermitted) in [("", true), ("till-reboot=yes", false)] {
      let profile = try SimulationProfile(parsing: "infinitime?" + settings)
      let timeline = VirtualTimeline()
      let board = try SimulatedBoard(profile: profile, clock: timeline.clock)
      let result = try timeline.run(limit: .seconds(7200)) {
        clock -> Result<ResourceUpdate.Outcome, UpdateFault> in
        await withTaskGroup(of: Void.self) { group in
          group.addTask { await board.run() }
          defer { group.cancelAll() }
          do throws(UpdateFault) {
            let flashed = try await FirmwareUpdate(image: image).run(
              on: board.dialer, clock: clock)
            #expect(flashed.outcome == .flashed && flashed.proof == .version)
            return .success(
              try await ResourceUpdate(Self.package).run(on: board.dialer, clock: clock))
          } catch {
            return .failure(error)
          }
        }
      }
      if isPermitted {
        #expect(try result.get().sent.count == 3)
      } else {
        #expect(Self.refusal(result) == .filesNotPermitted)
      }
    }
  }
}
