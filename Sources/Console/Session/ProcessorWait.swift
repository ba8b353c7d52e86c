import Glibc

/// The time during which threads of this process were ready to run but had no processor (the second
/// number of schedstat, proc(5)). On a busy host, transfer rates show the load of the host and not
/// the speed of the link.
package struct ProcessorWait: Sendable {
  /// The share of the elapsed time above which the wait is reported; lower shares are usual on a
  /// host with other work.
  private static let shareMinimum = 0.1
  /// The minimum duration of a run whose wait is reported. In a shorter run, most of the wait is
  /// caused by the start of the program.
  private static let elapsedMinimum = Duration.seconds(2)

  private let start: [String: Duration]
  private let began: ContinuousClock.Instant

  package init() {
    start = Self.waits()
    began = .now
  }

  /// Returns a sentence if a thread has waited for much of the time since the start, or `nil`.
  package func note() -> String? {
    let waits = Self.waits()
    let longest = waits.map { $1 - (start[$0] ?? .zero) }.max() ?? .zero
    return Self.note(waited: longest, of: began.duration(to: .now))
  }

  package static func note(waited: Duration, of elapsed: Duration) -> String? {
    guard elapsed >= elapsedMinimum, waited / elapsed >= shareMinimum else { return nil }
    let percent = Int((min(waited / elapsed, 1) * 100).rounded())
    return "this host was busy: the program waited for a processor for \(percent)% of the time, "
      + "so it was slower than the devices and the link permit"
  }

  /// Returns the wait time of each thread; empty if the kernel does not count wait times.
  private static func waits() -> [String: Duration] {
    let folder = "/proc/self/task"
    guard let directory = opendir(folder) else { return [:] }
    defer { closedir(directory) }
    var waits: [String: Duration] = [:]
    while let entry = readdir(directory) {
      let thread = withUnsafePointer(to: &entry.pointee.d_name) {
        $0.withMemoryRebound(to: CChar.self, capacity: Int(NAME_MAX) + 1) { String(cString: $0) }
      }
      guard UInt(thread) != nil else { continue }
      do throws(FileFault) {
        waits[thread] = wait(in: try TextFile(path: "\(folder)/\(thread)/schedstat").read())
      } catch {
        // The thread has ended since the directory was listed, or the kernel does not record its
        // wait time: skip the thread.
        continue
      }
    }
    return waits
  }

  package static func wait(in schedstat: String) -> Duration? {
    let numbers = schedstat.split(whereSeparator: \.isWhitespace)
    guard numbers.count == 3, let nanoseconds = Int64(numbers[1]) else { return nil }
    return .nanoseconds(nanoseconds)
  }
}
