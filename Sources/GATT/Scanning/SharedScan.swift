import OtaflashATT
import Synchronization

/// One scan with any number of readers: it starts with the first of them and ends with the last, so
/// that two parts of a program do not ask one adapter for two scans. A `Scanner` itself.
///
/// ```swift
/// let scan = SharedScan(of: adapter)
/// for try await devices in scan.lists() { show(devices) }
/// ```
public final class SharedScan: Scanner {
  private struct State {
    var readers: [UInt64: Reader] = [:]
    var nextNumber: UInt64 = 0
    /// What is heard, with the number of the report it was heard in last.
    var heard: [Advertisement.ID: (device: Advertisement, report: UInt64)] = [:]
    var reports: UInt64 = 0
    var scan: HeldService?
  }

  /// Reports kept for a reader that is slow; the oldest are dropped.
  private static let reportsKept = 256

  private let devicesMaximum: Int
  private let run: @Sendable (@Sendable (Advertisement) -> Void) async throws(ScanFault) -> Void
  private let state = Mutex(State())

  /// - Parameters:
  ///   - scanner: an adapter, or a simulated neighbourhood.
  ///   - filter: what the scan itself hears; readers may ask for less of it.
  ///   - devicesMaximum: the most devices in the list, 1 or more; the one that was not heard for
  ///     the longest time is dropped for a new one.
  public init(
    of scanner: some Scanner, matching filter: AdvertisementFilter = AdvertisementFilter(),
    devicesMaximum: Int = 4096
  ) {
    precondition(devicesMaximum >= 1, "a list has room for one device or more")
    self.devicesMaximum = devicesMaximum
    run = { (tell) async throws(ScanFault) in
      for try await device in scanner.advertisements(matching: filter, eachOnce: false) {
        tell(device)
      }
    }
  }

  /// The devices as they were heard last, the strongest first. Kept when the last reader has left,
  /// until a new scan begins.
  public var devices: [Advertisement] {
    state.withLock { $0.heard.values.map(\.device) }.sorted(by: Advertisement.isStronger)
  }

  public func advertisements(
    matching filter: AdvertisementFilter, eachOnce: Bool
  ) -> SharedAdvertisements {
    SharedAdvertisements(scan: self, filter: filter, eachOnce: eachOnce)
  }

  /// The list as it stands, at once and after each change; a slow reader gets the latest only.
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

  /// Leaves the scan with the iterator that holds it.
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
        // An adapter takes a new scan when the former has ended.
        let former = state.scan
        state.heard = [:]
        state.scan = HeldService { [self] in
          await former?.ended()
          await scanAndTell()
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

  private func scanAndTell() async {
    var cause: ScanFault?
    do throws(ScanFault) {
      guard !Task.isCancelled else { return }
      try await run { [self] device in tell(device) }
    } catch {
      cause = error
    }
    // Who came after this scan was cancelled waits for the next one.
    guard !Task.isCancelled else { return }
    let readers = state.withLock { state in
      defer { state.readers = [:] }
      return state.readers.values
    }
    for reader in readers { reader.end(cause) }
  }

  private func tell(_ device: Advertisement) {
    let readers = state.withLock { state in
      if state.heard.count >= devicesMaximum, state.heard[device.id] == nil,
        let oldest = state.heard.min(by: { $0.value.report < $1.value.report })
      {
        state.heard[oldest.key] = nil
      }
      state.reports += 1
      state.heard[device.id] = (device, state.reports)
      return Array(state.readers.values)
    }
    for reader in readers { reader.reports.push(device) }
  }
}

/// What one reader of a `SharedScan` hears from the moment on at which it first asks.
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
    private var told: Set<Advertisement.ID> = []

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
        if !sequence.eachOnce || told.insert(device.id).inserted { return device }
      }
      return nil
    }
  }
}

/// The list of a `SharedScan`, each time it has changed.
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
