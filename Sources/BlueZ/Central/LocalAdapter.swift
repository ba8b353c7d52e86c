import OtaflashATT
import OtaflashGATT

/// An adapter of the host. It scans through the management interface (CAP_NET_ADMIN), and connects
/// through the kernel's L2CAP channel for attributes (no capability).
///
/// ```swift
/// try await withPeripheral(matching: filter, from: LocalAdapter()) { peripheral in
/// ```
public struct LocalAdapter: Central, AdapterMonitor {
  /// The kernel's monotonic clock (`EventLoopClock`).
  public var clock: any LinkClock { EventLoopClock() }

  private let number: UInt16
  private let address: BluetoothAddress?
  private let security: SecurityLevel
  private let pairing: PairingAgent?
  private let tuner: LinkTuner?
  private let scanning: ScanParameters?
  private let open: @Sendable () throws(MgmtFault) -> MgmtSession

  /// - Parameters:
  ///   - number: the number of the adapter; `hci0` is 0.
  ///   - address: the address of the same adapter, for connections. With `nil` the kernel chooses
  ///   the first adapter if `number` is 0; otherwise the address is read from the kernel.
  ///   - security: the minimum security of a link before it is used.
  ///   - pairing: handles the kernel's requests while a link is secured; the agent must be started
  ///   and running.
  ///   - tuner: tunes the links; the tuner must be started and running.
  ///   - scanning: the scan interval and window; with `nil` the kernel determines both.
  public init(
    _ number: UInt16 = 0, address: BluetoothAddress? = nil, security: SecurityLevel = .low,
    pairing: PairingAgent? = nil, tuner: LinkTuner? = nil, scanning: ScanParameters? = nil
  ) {
    self.init(
      number, address: address, security: security, pairing: pairing, tuner: tuner,
      scanning: scanning,
      open: { () throws(MgmtFault) in try MgmtSession() })
  }

  init(
    _ number: UInt16, address: BluetoothAddress?, security: SecurityLevel,
    pairing: PairingAgent? = nil, tuner: LinkTuner? = nil, scanning: ScanParameters? = nil,
    open: @escaping @Sendable () throws(MgmtFault) -> MgmtSession
  ) {
    self.number = number
    self.address = address
    self.security = security
    self.pairing = pairing
    self.tuner = tuner
    self.scanning = scanning
    self.open = open
  }

  public func advertisements(
    matching filter: AdvertisementFilter, eachOnce: Bool
  ) -> AdapterAdvertisements {
    var filter = filter
    // The address may have a type suffix.
    filter.ids = Set(filter.ids.map { BluetoothAddress($0.lowercased())?.description ?? $0 })
    // The kernel also filters by services and signal strength, so that it wakes this process less
    // often.
    let discoveryFilter = DiscoveryFilter(
      services: filter.services, rssiMinimum: filter.rssiMinimum.map(Int8.init(clamping:))
    ) { [filter] device in filter.accepts(Advertisement(device)) }
    return AdapterAdvertisements(
      discovery: Discovery(
        adapter: number, filter: discoveryFilter, within: nil, reportsDuplicates: !eachOnce,
        scanning: scanning, open: open))
  }

  public func adapterStates() -> AdapterStates {
    AdapterStates(adapter: number, open: open, switches: { RFKillSwitch.all() })
  }

  public func id(of device: Advertisement, at place: DeviceLocation) -> Advertisement.ID? {
    BluetoothAddress(device.id)?.at(place)?.description
  }

  public func connect(
    to device: Advertisement, within limit: Duration
  ) async throws(ConnectFault) -> any Link {
    guard let peer = BluetoothAddress(device.id) else {
      throw .deviceNotFound(
        cause: "\(device.id) is not a Bluetooth address.",
        remedy: .advice("Connect to a device that this adapter has reported."))
    }
    // By default the kernel chooses the first adapter, which needs no capability.
    var adapter = address
    if adapter == nil, number > 0 { adapter = try await Self.address(of: number, open: open) }
    return try await L2CAPLink.connect(
      to: peer, adapter: adapter, within: limit, security: security, pairing: pairing,
      tuner: tuner)
  }
}

/// The advertisements that an adapter receives. The sequence ends only by an error or cancellation.
public struct AdapterAdvertisements: AsyncSequence, Sendable {
  public typealias Element = Advertisement
  public typealias Failure = ScanFault

  let discovery: Discovery

  public func makeAsyncIterator() -> AsyncIterator {
    AsyncIterator(devices: discovery.makeAsyncIterator())
  }

  public struct AsyncIterator: AsyncIteratorProtocol {
    var devices: Discovery.Iterator

    public mutating func next() async throws(ScanFault) -> Advertisement? {
      try await next(isolation: nil)
    }

    public mutating func next(
      isolation actor: isolated (any Actor)?
    ) async throws(ScanFault) -> Advertisement? {
      do throws(MgmtFault) {
        return try await devices.next(isolation: actor).map(Advertisement.init)
      } catch {
        throw ScanFault(error)
      }
    }
  }
}

extension Advertisement {
  /// Creates the advertisement of a device whose identifier is its address, including the address
  /// type.
  init(_ device: DiscoveredDevice) {
    self.init(
      id: "\(device.address)", name: device.name, rssi: device.rssi.map(Int.init),
      services: device.services, manufacturerData: device.manufacturerData,
      serviceData: device.serviceData, txPower: device.txPower.map(Int.init),
      appearance: device.appearance, isConnectable: device.isConnectable, flags: device.flags)
  }
}

extension ScanFault {
  init(_ fault: MgmtFault) {
    switch fault {
    case .adapterUnavailable(let cause, let remedy):
      self = .adapterUnavailable(cause: cause, remedy: remedy)
    case .permissionDenied(let cause, let remedy):
      self = .permissionDenied(cause: cause, remedy: remedy)
    case .busy(let cause, let remedy): self = .busy(cause: cause, remedy: remedy)
    case .unsupported(let cause, let remedy):
      self = .unsupported(cause: cause, remedy: remedy)
    case .refused(let opcode, let status):
      self = .failed(reason: "The kernel rejected command \(opcode) with \(status).")
    case .noAnswer(let opcode):
      self = .failed(reason: "The kernel did not respond to command \(opcode).")
    case .malformed: self = .failed(reason: "The kernel sent a malformed packet.")
    case .socket(let loss): self = .failed(reason: "The control socket failed: \(loss).")
    case .systemCall(let name, let number):
      self = .failed(reason: "\(name) failed with errno \(number).")
    case .cancelled: self = .cancelled
    }
  }
}
