import OtaflashATT
import Synchronization

/// A source of advertisements: an adapter of the host, or the simulated environment.
public protocol Scanner: Sendable {
  /// The result of `advertisements(matching:eachOnce:)`.
  associatedtype Advertisements: AsyncSequence & Sendable
  where Advertisements.Element == Advertisement, Advertisements.Failure == ScanFault

  /// Returns the advertisements of the devices that pass `filter`. The scan starts when the first
  /// element is requested, and stops when the iterator is released, for example by a `break` or a
  /// cancelled task.
  ///
  /// - Parameters:
  ///   - filter: the condition for a report.
  ///   - eachOnce: `true` reports each device once, when it first passes; `false` reports every
  ///   advertisement, with the current signal strength.
  func advertisements(matching filter: AdvertisementFilter, eachOnce: Bool) -> Advertisements
}

/// A scanner that can also connect to the devices it finds (the Central role; Core 5.4, Vol 3, Part
/// C, 2.2.2.3).
public protocol Central: Scanner {
  /// The default clock for this central's scans and connections.
  var clock: any LinkClock { get }

  /// Creates a link within `limit` to a device that this scanner has reported, or whose identifier
  /// `id(of:at:)` has returned.
  func connect(
    to device: Advertisement, within limit: Duration
  ) async throws(ConnectFault) -> any Link

  /// Returns the identifier for a connection to a device at a location, such as the address of its
  /// bootloader; `nil` if this central cannot determine the identifier.
  func id(of device: Advertisement, at place: DeviceLocation) -> Advertisement.ID?
}

extension Central {
  /// The default: a device is only at the location where it was discovered.
  public func id(of device: Advertisement, at place: DeviceLocation) -> Advertisement.ID? {
    place.isHome ? device.id : nil
  }
}

extension Central {
  /// Same as `first(matching:within:on:)`, on the central's clock.
  public func first(
    matching filter: AdvertisementFilter = AdvertisementFilter(), within limit: Duration
  ) async throws(ScanFault) -> Advertisement {
    try await first(matching: filter, within: limit, on: clock)
  }

  /// Same as `discovered(for:matching:on:)`, on the central's clock.
  public func discovered(
    for window: Duration, matching filter: AdvertisementFilter = AdvertisementFilter()
  ) async throws(ScanFault) -> [Advertisement] {
    try await discovered(for: window, matching: filter, on: clock)
  }
}

/// The reason why a scan returned no device.
#if hasAttribute(nonexhaustive)
@nonexhaustive
#endif
public enum ScanFault: Error, Equatable, Sendable {
  /// No device passed the filter within the time limit.
  case notFound(within: Duration)
  /// There is no adapter, or the adapter is off. `cause` is a complete sentence, as in the next
  /// three cases.
  case adapterUnavailable(cause: String, remedy: Remedy)
  /// Another program scans.
  case busy(cause: String, remedy: Remedy)
  /// The system does not permit this process to scan.
  case permissionDenied(cause: String, remedy: Remedy)
  /// The scanner does not support the requested kind of scan.
  case unsupported(cause: String, remedy: Remedy)
  /// The scanner failed; `reason` is a complete sentence.
  case failed(reason: String)
  /// The scanning task was cancelled.
  case cancelled
}

extension Scanner {
  /// The maximum number of devices that `discovered` collects.
  static var collectedMaximum: Int { 4096 }

  /// Returns the devices that pass `filter`, each reported once, when it first passes.
  public func advertisements(matching filter: AdvertisementFilter) -> Advertisements {
    advertisements(matching: filter, eachOnce: true)
  }

  /// Returns the first device that passes `filter`.
  ///
  /// - Throws: `.notFound` if no device passed within `limit`, and the errors of the scan.
  public func first(
    matching filter: AdvertisementFilter = AdvertisementFilter(), within limit: Duration,
    on clock: any LinkClock
  ) async throws(ScanFault) -> Advertisement {
    let deadline = clock.now.advanced(by: limit)
    return try await withDeadline(deadline, on: clock, orThrow: .notFound(within: limit)) {
      () async throws(ScanFault) -> Advertisement in
      for try await device in advertisements(matching: filter) { return device }
      throw Task.isCancelled ? .cancelled : .failed(reason: "The scan ended unexpectedly.")
    }
  }

  /// Returns the devices that pass `filter` within `window`, each with its latest advertisement, in
  /// descending order of signal strength.
  ///
  /// - Throws: the errors of the scan. If no device passes, the list is empty.
  public func discovered(
    for window: Duration, matching filter: AdvertisementFilter = AdvertisementFilter(),
    on clock: any LinkClock
  ) async throws(ScanFault) -> [Advertisement] {
    let found = Mutex<[Advertisement.ID: Advertisement]>([:])
    let deadline = clock.now.advanced(by: window)
    do throws(ScanFault) {
      try await withDeadline(deadline, on: clock, orThrow: .notFound(within: window)) {
        () async throws(ScanFault) in
        for try await device in advertisements(matching: filter, eachOnce: false) {
          found.withLock { found in
            let hasRoom = found.count < Self.collectedMaximum || found[device.id] != nil
            if hasRoom { found[device.id] = device }
          }
        }
      }
    } catch .notFound {
      // The time window has ended.
    }
    return found.withLock { Array($0.values) }.sorted(by: Advertisement.isStronger)
  }
}
