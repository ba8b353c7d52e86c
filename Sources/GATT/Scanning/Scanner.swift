import OtaflashATT
import Synchronization

/// What listens to the devices that advertise: an adapter of this machine, or a simulated
/// neighbourhood.
public protocol Scanner: Sendable {
  /// What `advertisements(matching:eachOnce:)` returns.
  associatedtype Advertisements: AsyncSequence & Sendable
  where Advertisements.Element == Advertisement, Advertisements.Failure == ScanFault

  /// The devices that pass `filter`. The scan starts with the first element that is asked for and
  /// stops when the iterator is gone, by a `break` or a cancelled task.
  ///
  /// - Parameters:
  ///   - filter: what a device must be like to be told.
  ///   - eachOnce: each device once, when it first passes; else every report of it, with its
  ///     strength then.
  func advertisements(matching filter: AdvertisementFilter, eachOnce: Bool) -> Advertisements
}

/// A scanner that can also connect to what it has found (the Central role; Core 5.4, Vol 3, Part C,
/// 2.2.2.3).
public protocol Central: Scanner {
  /// Measures time for this central's scans and connections where the caller passes no clock.
  var clock: any LinkClock { get }

  /// Makes a link to a device that this scanner has reported, within `limit`.
  func connect(
    to device: Advertisement, within limit: Duration
  ) async throws(ConnectFault) -> any Link

  /// The name by which a device is connected that has moved to another address, as some do to run
  /// their bootloader; `nil` where this central knows of no addresses.
  func id(of device: Advertisement, at place: DeviceLocation) -> Advertisement.ID?
}

extension Central {
  /// By default a device is where it was heard, and nowhere else.
  public func id(of device: Advertisement, at place: DeviceLocation) -> Advertisement.ID? {
    place.isHome ? device.id : nil
  }
}

extension Central {
  /// As `first(matching:within:on:)`, on the central's clock.
  public func first(
    matching filter: AdvertisementFilter = AdvertisementFilter(), within limit: Duration
  ) async throws(ScanFault) -> Advertisement {
    try await first(matching: filter, within: limit, on: clock)
  }

  /// As `discovered(for:matching:on:)`, on the central's clock.
  public func discovered(
    for window: Duration, matching filter: AdvertisementFilter = AdvertisementFilter()
  ) async throws(ScanFault) -> [Advertisement] {
    try await discovered(for: window, matching: filter, on: clock)
  }
}

/// Why a scan gave no device.
#if hasAttribute(nonexhaustive)
@nonexhaustive
#endif
public enum ScanFault: Error, Equatable, Sendable {
  /// No device passed the filter within the time limit.
  case notFound(within: Duration)
  /// No adapter, or it is off. `cause` is a whole sentence, here and below.
  case adapterUnavailable(cause: String, remedy: Remedy)
  /// Another program scans.
  case busy(cause: String, remedy: Remedy)
  /// The system does not let this process scan.
  case permissionDenied(cause: String, remedy: Remedy)
  /// The scanner cannot scan in the way that was asked for.
  case unsupported(cause: String, remedy: Remedy)
  /// The scanner failed; `reason` is a whole sentence.
  case failed(reason: String)
  /// The task that scanned was cancelled.
  case cancelled
}

extension Scanner {
  /// The most devices that a window collects.
  static var collectedMaximum: Int { 4096 }

  /// The devices that pass `filter`, each once, when it first does.
  public func advertisements(matching filter: AdvertisementFilter) -> Advertisements {
    advertisements(matching: filter, eachOnce: true)
  }

  /// The first device that passes `filter`.
  ///
  /// - Throws: `.notFound` when there was none within `limit`, or what the scan throws.
  public func first(
    matching filter: AdvertisementFilter = AdvertisementFilter(), within limit: Duration,
    on clock: any LinkClock
  ) async throws(ScanFault) -> Advertisement {
    let deadline = clock.now.advanced(by: limit)
    return try await withDeadline(deadline, on: clock, orThrow: .notFound(within: limit)) {
      () async throws(ScanFault) -> Advertisement in
      for try await device in advertisements(matching: filter) { return device }
      throw Task.isCancelled ? .cancelled : .failed(reason: "The scan ended by itself.")
    }
  }

  /// The devices that pass `filter` within `window`, each as it was heard last, the strongest
  /// first.
  ///
  /// - Throws: what the scan throws. That nobody was heard is an empty list.
  public func discovered(
    for window: Duration, matching filter: AdvertisementFilter = AdvertisementFilter(),
    on clock: any LinkClock
  ) async throws(ScanFault) -> [Advertisement] {
    let heard = Mutex<[Advertisement.ID: Advertisement]>([:])
    let deadline = clock.now.advanced(by: window)
    do throws(ScanFault) {
      try await withDeadline(deadline, on: clock, orThrow: .notFound(within: window)) {
        () async throws(ScanFault) in
        for try await device in advertisements(matching: filter, eachOnce: false) {
          heard.withLock { heard in
            let hasRoom = heard.count < Self.collectedMaximum || heard[device.id] != nil
            if hasRoom { heard[device.id] = device }
          }
        }
      }
    } catch .notFound {
      // The window is over.
    }
    return heard.withLock { Array($0.values) }.sorted(by: Advertisement.isStronger)
  }
}
