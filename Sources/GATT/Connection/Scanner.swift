import OtaflashATT

/// What listens to the devices that advertise: an adapter of this machine, or a simulated
/// neighbourhood.
public protocol Scanner: Sendable {
  associatedtype Advertisements: AsyncSequence
  where Advertisements.Element == Advertisement, Advertisements.Failure == ScanFault

  /// The devices that pass `filter`, each once, when it first does. The scan starts with the first
  /// element that is asked for and stops when the iterator is gone, by a `break` or a cancelled
  /// task.
  func advertisements(matching filter: AdvertisementFilter) -> Advertisements
}

/// A scanner that can also connect to what it has found (the Central role; Core 5.4, Vol 3, Part C,
/// 2.2.2.3).
public protocol Central: Scanner {
  /// Makes a link to a device that this scanner has reported, within `limit`.
  func connect(
    to device: Advertisement, within limit: Duration
  ) async throws(ConnectFault) -> any Link
}

/// Why a scan gave no device.
public enum ScanFault: Error, Equatable, Sendable {
  /// No device passed the filter within the time limit.
  case notFound(within: Duration)
  /// No adapter, or it is off. `cause` and `remedy` are whole sentences, here and below.
  case adapterUnavailable(cause: String, remedy: String)
  /// Another program scans.
  case busy(cause: String, remedy: String)
  case permissionDenied(cause: String, remedy: String)
  /// The scanner failed; `reason` is a whole sentence.
  case failed(reason: String)
  case cancelled
}

extension Scanner {
  /// The first device that passes `filter`.
  ///
  /// - Throws: `.notFound` when there was none within `limit`, or what the scan throws.
  public func first(
    matching filter: AdvertisementFilter, within limit: Duration, on clock: any LinkClock
  ) async throws(ScanFault) -> Advertisement {
    let deadline = clock.now.advanced(by: limit)
    return try await withDeadline(deadline, on: clock, orThrow: .notFound(within: limit)) {
      () async throws(ScanFault) -> Advertisement in
      for try await device in advertisements(matching: filter) { return device }
      throw Task.isCancelled ? .cancelled : .failed(reason: "The scan ended by itself.")
    }
  }
}

extension Dialer {
  /// Looks for a device each time a link is needed, and connects to the first that passes `filter`:
  /// a device that went away is found again, under a new address too.
  ///
  /// - Parameter limit: the longest time to find the device, and again to connect to it.
  public init(
    to filter: AdvertisementFilter, from central: some Central, within limit: Duration,
    on clock: any LinkClock
  ) {
    self.init { (report) async throws(ConnectFault) -> any Link in
      report(.scanStarted)
      let device: Advertisement
      do throws(ScanFault) {
        device = try await central.first(matching: filter, within: limit, on: clock)
      } catch {
        throw ConnectFault(error)
      }
      report(.deviceFound)
      report(.connectStarted)
      return try await central.connect(to: device, within: limit)
    }
  }
}

extension ConnectFault {
  /// What a scan without a result means for a connection.
  public init(_ fault: ScanFault) {
    switch fault {
    case .notFound(let limit):
      self = .deviceNotFound(
        cause: "No device that was asked for advertised within \(limit).",
        remedy: "Bring it nearer, switch it on, or end its connection to another host.")
    case .adapterUnavailable(let cause, let remedy):
      self = .adapterUnavailable(cause: cause, remedy: remedy)
    case .busy(let cause, let remedy): self = .busy(cause: cause, remedy: remedy)
    case .permissionDenied(let cause, let remedy):
      self = .permissionDenied(cause: cause, remedy: remedy)
    case .failed(let reason):
      self = .adapterUnavailable(cause: reason, remedy: "Switch the adapter off and on again.")
    case .cancelled: self = .cancelled
    }
  }
}
