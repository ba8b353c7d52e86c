import OtaflashATT
import Synchronization

/// One scan with any number of readers. The scan starts with the first reader and ends with the
/// last reader, so that two parts of a program do not start two scans on one adapter. A shared scan
/// is also a `Scanner`.
///
/// ```swift
/// let scan = SharedScan(of: adapter)
/// for try await devices in scan.lists() { show(devices) }
/// ```
public final class SharedScan: Scanner {
  private struct State {
    var readers: [UInt64: Reader] = [:]
    var nextNumber: UInt64 = 0
    /// The discovered devices, each with the number of its latest report.
    var discovered: [Advertisement.ID: (device: Advertisement, report: UInt64)] = [:]
    var reports: UInt64 = 0
    var scan: HeldService?
  }

  /// The number of reports kept for a slow reader; the oldest reports are dropped.
  private static let reportsKept = 256

  private let devicesMaximum: Int
  private let run: @Sendable (@Sendable (Advertisement) -> Void) async throws(ScanFault) -> Void
  private let state = Mutex(State())

  /// - Parameters:
  ///   - scanner: an adapter, or the simulated environment.
  ///   - filter: the filter of the shared scan; readers may narrow it.
  ///   - devicesMaximum: the maximum number of devices in the list, 1 or more; a new device
  ///     replaces the device whose latest report is the oldest.
  public init(
    of scanner: some Scanner, matching filter: AdvertisementFilter = AdvertisementFilter(),
    devicesMaximum: Int = 4096
  ) {
    precondition(devicesMaximum >= 1, "a list has room for one device or more")
    self.devicesMaximum = devicesMaximum
    run = { (publish) async throws(ScanFault) in
      for try await device in scanner.advertisements(matching: filter, eachOnce: false) {
        publish(device)
      }
    }
  }

  /// The devices with their latest advertisements, in descending order of signal strength. The list
  /// is kept after the last reader has ended, until a new scan starts.
  public var devices: [Advertisement] {
    state.withLock { $0.discovered.values.map(\.device) }.sorted(by: Advertisement.isStronger)
  }

  public func advertisements(
    matching filter: AdvertisementFilter, eachOnce: Bool
  ) -> SharedAdvertisements {
    SharedAdvertisements(scan: self, filter: filter, eachOnce: eachOnce)
  }

  /// Returns the current list, immediately and after each change; a slow reader receives only the
  /// latest list.
  public func lists() -> DeviceLists { DeviceLists(scan: self) }

  // MARK: Readers

  fileprivate final class Reader: Sendable {
    let reports = Mailbox<Advertisement>(capacity: SharedScan.reportsKept)
    private let fault = Mutex<ScanFault?>(nil)

    func end(_ cause: ScanFault?) {
      fault.withLock { $0 = cause }
      reports.finish()
    }

    func next() async throws(ScanFault) -> Advertisement? {
      if let report = await reports.next() { return report }
      if let fault = fault.withLock({ $0 }) { throw fault }
      if Task.isCancelled { throw .cancelled }
      return nil
    }
  }

  /// Removes the reader from the scan when the iterator that holds this object is released.
  fileprivate final class Membership: Sendable {
    let scan: SharedScan
    let reader: Reader
    private let number: UInt64

    init(of scan: SharedScan) {
      self.scan = scan
      (reader, number) = scan.join()
    }

    deinit { scan.leave(number) }
  }

  private func join() -> (Reader, UInt64) {
    state.withLock { state in
      let reader = Reader()
      let number = state.nextNumber
      state.nextNumber += 1
      state.readers[number] = reader
      if state.readers.count == 1 {
        // An adapter accepts a new scan only after the previous scan has ended.
        let former = state.scan
        state.discovered = [:]
        state.scan = HeldService { [self] in
          await former?.ended()
          await scanAndPublish()
        }
      }
      return (reader, number)
    }
  }

  private func leave(_ number: UInt64) {
    let ending = state.withLock { state -> HeldService? in
      guard state.readers.removeValue(forKey: number) != nil, state.readers.isEmpty else {
        return nil
      }
      return state.scan
    }
    ending?.cancel()
  }

  private func scanAndPublish() async {
    var cause: ScanFault?
    do throws(ScanFault) {
      guard !Task.isCancelled else { return }
      try await run { [self] device in publish(device) }
    } catch {
      cause = error
    }
    // Readers that joined after the cancellation of this scan wait for the next scan.
    guard !Task.isCancelled else { return }
    let readers = state.withLock { state in
      defer { state.readers = [:] }
      return state.readers.values
    }
    for reader in readers { reader.end(cause) }
  }

  private func publish(_ device: Advertisement) {
    let readers = state.withLock { state in
      if state.discovered.count >= devicesMaximum, state.discovered[device.id] == nil,
        let oldest = state.discovered.min(by: { $0.value.report < $1.value.report })
      {
        state.discovered[oldest.key] = nil
      }
      state.reports += 1
      state.discovered[device.id] = (device, state.reports)
      return Array(state.readers.values)
    }
    for reader in readers { reader.reports.push(device) }
  }
}

/// The advertisements that one reader of a `SharedScan` receives, starting with its first request.
public struct SharedAdvertisements: AsyncSequence, Sendable {
  public typealias Element = Advertisement
  public typealias Failure = ScanFault

  fileprivate let scan: SharedScan
  fileprivate let filter: AdvertisementFilter
  fileprivate let eachOnce: Bool

  public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(sequence: self) }

  public struct AsyncIterator: AsyncIteratorProtocol {
    fileprivate let sequence: SharedAdvertisements
    private var membership: SharedScan.Membership?
    private var reported: Set<Advertisement.ID> = []

    fileprivate init(sequence: SharedAdvertisements) { self.sequence = sequence }

    public mutating func next() async throws(ScanFault) -> Advertisement? {
      try await next(isolation: nil)
    }

    public mutating func next(
      isolation actor: isolated (any Actor)?
    ) async throws(ScanFault) -> Advertisement? {
      let membership = membership ?? SharedScan.Membership(of: sequence.scan)
      self.membership = membership
      while let device = try await membership.reader.next() {
        guard sequence.filter.accepts(device) else { continue }
        if !sequence.eachOnce || reported.insert(device.id).inserted { return device }
      }
      return nil
    }
  }
}

/// The list of a `SharedScan`, after each change.
public struct DeviceLists: AsyncSequence, Sendable {
  public typealias Element = [Advertisement]
  public typealias Failure = ScanFault

  fileprivate let scan: SharedScan

  public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(scan: scan) }

  public struct AsyncIterator: AsyncIteratorProtocol {
    fileprivate let scan: SharedScan
    private var membership: SharedScan.Membership?

    fileprivate init(scan: SharedScan) { self.scan = scan }

    public mutating func next() async throws(ScanFault) -> [Advertisement]? {
      try await next(isolation: nil)
    }

    public mutating func next(
      isolation actor: isolated (any Actor)?
    ) async throws(ScanFault) -> [Advertisement]? {
      guard let membership else {
        self.membership = SharedScan.Membership(of: scan)
        return scan.devices
      }
      guard try await membership.reader.next() != nil else { return nil }
      while membership.reader.reports.poll() != nil {}
      return scan.devices
    }
  }
}
