import OtaflashATT

/// The devices that advertise in range of an adapter, as a sequence. Needs CAP_NET_ADMIN.
///
/// Each iterator runs a separate discovery, which ends with `nil` at the time limit. The discovery
/// in the kernel is stopped at the time limit, after an error, after a cancellation, and after a
/// `break` out of the loop.
package struct Discovery: AsyncSequence, Sendable {
  package typealias Element = DiscoveredDevice
  package typealias Failure = MgmtFault

  private let adapter: UInt16
  private let filter: DiscoveryFilter
  private let limit: Duration?
  private let reportsDuplicates: Bool
  private let scanning: ScanParameters?
  private let shortRun: Duration
  private let open: @Sendable () throws(MgmtFault) -> MgmtSession

  /// - Parameters:
  ///   - adapter: the adapter's number; `hci0` is 0.
  ///   - filter: the devices to report.
  ///   - limit: the time limit; with `nil` the discovery continues until the loop ends.
  ///   - reportsDuplicates: whether every advertisement is reported, instead of each device once.
  ///   - scanning: the scan interval and window of this discovery; the previous values are restored
  ///   when the discovery ends. With `nil` the kernel determines both.
  package init(
    adapter: UInt16 = 0, filter: DiscoveryFilter = DiscoveryFilter(), within limit: Duration?,
    reportsDuplicates: Bool = false, scanning: ScanParameters? = nil
  ) {
    self.init(
      adapter: adapter, filter: filter, within: limit, reportsDuplicates: reportsDuplicates,
      scanning: scanning,
      open: { () throws(MgmtFault) in try MgmtSession() })
  }

  /// - Parameter shortRun: a discovery that ends within this time counts as failed; several such
  ///   discoveries in a row count as a permanent failure. Normally, a discovery of the kernel lasts
  ///   10.24 s.
  init(
    adapter: UInt16, filter: DiscoveryFilter, within limit: Duration?, reportsDuplicates: Bool,
    scanning: ScanParameters? = nil, shortRun: Duration = .seconds(1),
    open: @escaping @Sendable () throws(MgmtFault) -> MgmtSession
  ) {
    self.adapter = adapter
    self.filter = filter
    self.limit = limit
    self.reportsDuplicates = reportsDuplicates
    self.scanning = scanning
    self.shortRun = shortRun
    self.open = open
  }

  package func makeAsyncIterator() -> Iterator { Iterator(discovery: self) }

  package struct Iterator: AsyncIteratorProtocol {
    private enum Phase {
      case before(Discovery)
      case running(DiscoveryRun)
      case ended
    }
    private var phase: Phase

    fileprivate init(discovery: Discovery) { phase = .before(discovery) }

    package mutating func next() async throws(MgmtFault) -> DiscoveredDevice? {
      try await next(isolation: nil)
    }

    /// Returns the next device; the first call starts the discovery.
    package mutating func next(
      isolation actor: isolated (any Actor)?
    ) async throws(MgmtFault) -> DiscoveredDevice? {
      do throws(MgmtFault) {
        let run: DiscoveryRun
        switch phase {
        case .ended: return nil
        case .running(let current): run = current
        case .before(let discovery):
          run = try discovery.makeRun()
          phase = .running(run)
          try await run.start(isolation: actor)
        }
        if let device = try await run.next(isolation: actor) { return device }
        phase = .ended
        return nil
      } catch {
        phase = .ended
        throw error
      }
    }
  }

  private func makeRun() throws(MgmtFault) -> DiscoveryRun {
    DiscoveryRun(
      session: try open(), adapter: adapter, filter: filter,
      deadline: limit.map { EventLoop.shared.now.advanced(by: $0) },
      reportsDuplicates: reportsDuplicates, scanning: scanning, shortRun: shortRun)
  }
}

/// One running discovery. The `deinit` of this object ends the discovery, because no other code
/// runs after a `break` out of the caller's loop.
private final class DiscoveryRun {
  /// The maximum number of remembered devices; if more devices are in range, some are reported
  /// again.
  private static let memoryMaximum = 4096
  private static let shortRunMaximum = 5

  private let session: MgmtSession
  private let adapter: UInt16
  private let filter: DiscoveryFilter
  private let expression: Regex<AnyRegexOutput>?
  private let deadline: LinkInstant?
  private let reportsDuplicates: Bool
  private let shortRun: Duration
  /// The scan parameters to set; `nil` after they were set.
  private var scanning: ScanParameters?
  /// The scan parameters to restore.
  private var formerScanning: [SystemParameter] = []
  private var devices: [BluetoothAddress: DiscoveredDevice] = [:]
  private var reported: Set<BluetoothAddress> = []
  private var startedAt = LinkInstant.start
  private var shortRuns = 0
  private var isStarted = false

  init(
    session: MgmtSession, adapter: UInt16, filter: DiscoveryFilter, deadline: LinkInstant?,
    reportsDuplicates: Bool, scanning: ScanParameters?, shortRun: Duration
  ) {
    self.session = session
    self.adapter = adapter
    self.filter = filter
    self.deadline = deadline
    self.reportsDuplicates = reportsDuplicates
    self.scanning = scanning
    self.shortRun = shortRun
    expression = filter.name?.expression
  }

  deinit {
    // This function cannot wait. If the stop command does not fit the socket, the kernel ends the
    // discovery after 10.24 s.
    if isStarted { _ = session.post(.stopDiscovery, index: adapter) }
    if !formerScanning.isEmpty {
      _ = session.post(.setDefaultSystemConfiguration(formerScanning), index: adapter)
    }
    session.close()
  }

  func start(isolation actor: isolated (any Actor)?) async throws(MgmtFault) {
    if let scanning {
      formerScanning = try await session.set(scanning, adapter: adapter)
      self.scanning = nil
    }
    // The flag is set before the response, because the kernel may start the discovery even if the
    // wait for the response is cancelled.
    isStarted = true
    startedAt = EventLoop.shared.now
    let isNarrow = !filter.services.isEmpty || filter.rssiMinimum != nil
    try await session.perform(
      isNarrow
        ? .startServiceDiscovery(rssiMinimum: filter.rssiMinimum, services: filter.services)
        : .startDiscovery,
      index: adapter)
  }

  /// Returns the next device that passes the filter; `nil` at the deadline.
  func next(
    isolation actor: isolated (any Actor)?
  ) async throws(MgmtFault) -> DiscoveredDevice? {
    while let packet = try await session.next(until: deadline) {
      guard packet.index == adapter else { continue }
      switch packet.event {
      case .deviceFound(let report):
        if let device = take(report) { return device }
      case .discovering(false): try await restart(isolation: actor)
      case .indexRemoved: throw MgmtFault(.invalidIndex, opcode: MgmtCommand.startDiscovery.opcode)
      case .newSettings(let settings) where !settings.contains(.powered):
        throw MgmtFault(.notPowered, opcode: MgmtCommand.startDiscovery.opcode)
      default: continue
      }
    }
    return nil
  }

  private func restart(isolation actor: isolated (any Actor)?) async throws(MgmtFault) {
    let lasted = startedAt.duration(to: EventLoop.shared.now)
    shortRuns = lasted < shortRun ? shortRuns + 1 : 0
    guard shortRuns < Self.shortRunMaximum else {
      throw .busy(
        cause: "The discovery ends immediately after its start; another program may stop it.",
        remedy: .endOtherScan)
    }
    try await start(isolation: actor)
  }

  private func take(_ report: AdvertisingReport) -> DiscoveredDevice? {
    if devices.count >= Self.memoryMaximum, devices[report.address] == nil {
      devices.removeAll()
      reported.removeAll()
    }
    var device = devices[report.address] ?? DiscoveredDevice(address: report.address)
    device.merge(report)
    devices[report.address] = device
    guard filter.accepts(device, expression) else { return nil }
    let isNew = reported.insert(report.address).inserted
    return isNew || reportsDuplicates ? device : nil
  }
}
