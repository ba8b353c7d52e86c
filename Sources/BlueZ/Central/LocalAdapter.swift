import OtaflashATT
import OtaflashGATT

/// An adapter of this machine: scans over the management interface (CAP_NET_ADMIN), connects over
/// the kernel's L2CAP channel for attributes (no capability).
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
  ///   - number: the adapter that scans; `hci0` is 0.
  ///   - address: the same adapter's own address, for connecting; `nil` reads it from the kernel.
  ///   - security: what a link must have reached before it is used.
  ///   - pairing: answers the kernel while a link is secured; started, and run beside the links.
  ///   - tuner: tunes the links; started, and run beside them.
  ///   - scanning: how scans listen; `nil` leaves it to the kernel.
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
    // An address may be written with its type or without.
    filter.ids = Set(filter.ids.map { BluetoothAddress($0.lowercased())?.description ?? $0 })
    // The kernel judges services and strength as well, and so wakes us less often.
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
    // The kernel itself takes the first adapter, for which no right is needed.
    var adapter = address
    if adapter == nil, number > 0 { adapter = try await Self.address(of: number, open: open) }
    return try await L2CAPLink.connect(
      to: peer, adapter: adapter, within: limit, security: security, pairing: pairing,
      tuner: tuner)
  }
}

/// What an adapter hears. Never ends by itself.
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
  /// The address is the name by which the device is connected, its type included.
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
      self = .failed(reason: "The kernel refused command \(opcode) with \(status).")
    case .noAnswer(let opcode):
      self = .failed(reason: "The kernel did not answer command \(opcode).")
    case .malformed: self = .failed(reason: "The kernel sent a malformed packet.")
    case .socket(let loss): self = .failed(reason: "The control socket failed: \(loss).")
    case .systemCall(let name, let number):
      self = .failed(reason: "\(name) failed with errno \(number).")
    case .cancelled: self = .cancelled
    }
  }
}
