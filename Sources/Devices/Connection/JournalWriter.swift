import OtaflashConsole
import OtaflashFirmware
import OtaflashState
import OtaflashUpdate
import Synchronization

/// Records the progress of an update, so that a later run can report the interruption. The entry is
/// only a hint: the device decides at which offset the transfer resumes.
package final class JournalWriter: Sendable {
  /// The maximum number of bytes between two entries, and the number of entries for a small image.
  /// Writing an entry waits for the disk.
  private static let stepMaximum = 64 * 1024
  private static let entriesOfSmallImage = 8

  private struct Page: Sendable {
    var entry: UpdateJournal.Entry
    var noted = 0
    /// Whether an earlier run has sent a part of this image, and this run has not yet begun its
    /// transfer.
    var expectsResume = false
    /// The size in bytes of all images before the current image.
    var before = 0
    /// Whether writing an entry failed. The failure was reported, and no further entry is written.
    var isGivenUp = false
  }

  private let records: StateStore
  private let journal: UpdateJournal
  private let sizes: [Int]
  private let page: Mutex<Page>

  package init(_ package: FirmwarePackage, on device: ResolvedDevice, in records: StateStore) {
    let now = Timestamp.secondsSince1970()
    self.records = records
    sizes = package.parts.map(\.bytes.count)
    journal = UpdateJournal(device: device.identity, in: records.directory)
    page = Mutex(
      Page(
        entry: UpdateJournal.Entry(
          device: device.identity, imageName: package.name, imageSize: package.size,
          imageCRC32: package.crc32, acknowledged: 0, started: now, updated: now)))
  }

  /// Returns the interrupted update of this device, if there is one.
  package func earlier() -> UpdateJournal.Entry? {
    let recalled = records.console.attempt(orNote: "the journal of an earlier run was not read") {
      () throws(StateFault) in try journal.read()
    }
    records.console.note("journal of an earlier run", setAside: recalled?.setAside)
    let entry = recalled?.content
    page.withLock { page in
      page.expectsResume =
        entry.map {
          $0.acknowledged > 0 && $0.imageCRC32 == page.entry.imageCRC32
        } ?? false
    }
    return entry
  }

  package func observe(_ event: UpdateEvent) {
    switch event {
    case .part(_, let number, _):
      page.withLock { $0.before = sizes.prefix(number - 1).reduce(0, +) }
    case .transferBegan(_, _, let isResumed):
      let expectedResume = page.withLock { page in
        defer { page.expectsResume = false }
        return page.expectsResume
      }
      guard expectedResume, !isResumed else { return }
      records.console.note("  no part of it can be used; the transfer starts over")
    case .progress(let acknowledged, _): note(acknowledged)
    default: break
    }
  }

  private func note(_ acknowledged: Int) {
    let due = page.withLock { page -> UpdateJournal.Entry? in
      let acknowledged = page.before + acknowledged
      page.entry.acknowledged = acknowledged
      let size = page.entry.imageSize
      // After the first entry, the next run reports the interruption.
      let step = page.noted == 0 ? 1 : min(Self.stepMaximum, size / Self.entriesOfSmallImage)
      guard acknowledged - page.noted >= step, acknowledged < size else { return nil }
      page.noted = acknowledged
      page.entry.updated = Timestamp.secondsSince1970()
      return page.entry
    }
    if let due { write(due) }
  }

  /// Records a failed update. The entry is kept if the device holds data from which the update can
  /// resume.
  package func brokenOff(by fault: UpdateFault) {
    if fault.endsTransfer { return done() }
    let entry = page.withLock { $0.entry }
    if entry.acknowledged > 0 { write(entry) }
  }

  package func done() {
    records.console.attempt(orNote: "the resume hint was not removed") { () throws(StateFault) in
      try journal.remove()
    }
  }

  private func write(_ entry: UpdateJournal.Entry) {
    guard !page.withLock({ $0.isGivenUp }) else { return }
    let kept: Void? = records.console.attempt(orNote: "the resume hint was not stored") {
      () throws(StateFault) in try journal.write(entry)
    }
    if kept == nil { page.withLock { $0.isGivenUp = true } }
  }
}
