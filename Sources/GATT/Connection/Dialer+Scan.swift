import OtaflashATT

extension Dialer {
  /// The default time limit to find a device, and also the default time limit to connect to it.
  public static let connectingLimitDefault = Duration.seconds(10)

  /// Creates a dialer that scans for a device each time a link is needed, and connects to the
  /// device: the first time to the first device that passes `filter`, afterwards only to the same
  /// device. The device is also found at the address of its bootloader.
  ///
  /// - Parameters:
  ///   - filter: the properties of the device.
  ///   - central: finds the device and connects to it.
  ///   - limit: the time limit to find the device, and also the time limit to connect to it.
  ///   - clock: the clock for the time limits.
  ///   - pins: `true` connects only to the device that was found first. `false` connects each time
  ///   to the first device that passes the filter, for a device that changes its address and is the
  ///   only device of its kind; such a dialer does not follow a device to its bootloader.
  public init(
    to filter: AdvertisementFilter, from central: some Central, within limit: Duration,
    on clock: any LinkClock, pins: Bool = true
  ) {
    self.init(reportsItsSteps: true, scans: true) {
      (request) async throws(ConnectFault) -> any Link in
      request.report(.scanStarted)
      let device: Advertisement
      if request.whereabouts == .homeOrNewAddress, let known = request.pin.device {
        device = try await central.relocated(known.id, orMatching: filter, on: clock)
      } else {
        do throws(ScanFault) {
          let sought = try Self.sought(request, filter, central, within: limit, pins: pins)
          device = try await central.first(matching: sought, within: limit, on: clock)
        } catch {
          throw ConnectFault(error)
        }
      }
      request.report(.deviceFound)
      request.report(.connectStarted)
      let link = try await central.connect(to: device, within: limit)
      if request.whereabouts.isHome {
        if pins { request.pin.set(device) }
        request.pin.connected(to: device)
      }
      return link
    }
  }

  /// Same as `init(to:from:within:on:pins:)`, on the central's clock.
  ///
  /// - Parameters:
  ///   - filter: the properties of the device.
  ///   - central: finds the device and connects to it.
  ///   - limit: the time limit to find the device, and also the time limit to connect to it.
  public init(
    to filter: AdvertisementFilter, from central: some Central,
    within limit: Duration = connectingLimitDefault
  ) {
    self.init(to: filter, from: central, within: limit, on: central.clock)
  }

  /// Creates a dialer for one device that a scan has reported, such as a device that the user
  /// selected from a list. If `central` knows the address of the device's bootloader, the device is
  /// also found at that address.
  ///
  /// - Parameters:
  ///   - device: the device.
  ///   - central: connects to it.
  ///   - limit: the time limit to connect.
  public init(
    to device: Advertisement, from central: some Central,
    within limit: Duration = connectingLimitDefault
  ) {
    let dialer = Dialer(reportsItsSteps: false) {
      (request) async throws(ConnectFault) -> any Link in
      guard let id = central.id(of: device, at: request.whereabouts) else {
        throw ConnectFault(.bootloaderUnknown)
      }
      let target =
        id == device.id
        ? device : Advertisement(id: id, name: nil, rssi: nil, services: [])
      let link = try await central.connect(to: target, within: limit)
      if request.whereabouts == .home { request.pin.connected(to: device) }
      return link
    }
    self = dialer.reaching(device.id)
  }

  /// Returns the filter for the scan. The advertisements of a bootloader and its application
  /// differ, so the bootloader is identified by its address, or by the name that the host has set.
  private static func sought(
    _ request: DialRequest, _ filter: AdvertisementFilter, _ central: some Central,
    within limit: Duration, pins: Bool
  ) throws(ScanFault) -> AdvertisementFilter {
    guard pins else {
      guard request.whereabouts.isHome else {
        throw .unsupported(
          cause: "A dialer for any device of a kind cannot follow a device to its bootloader.",
          remedy: .advice("Use a dialer that pins its device (pins: true)."))
      }
      return filter
    }
    guard let known = request.pin.device else {
      guard request.whereabouts.isHome else {
        // No device was found yet, so the next address is unknown.
        throw .notFound(within: limit)
      }
      return filter
    }
    if case .advertising(let name) = request.whereabouts {
      return AdvertisementFilter { $0 == name }
    }
    guard let id = central.id(of: known, at: request.whereabouts) else {
      throw .bootloaderUnknown
    }
    return AdvertisementFilter(ids: [id])
  }
}

extension ScanFault {
  fileprivate static let bootloaderUnknown = ScanFault.unsupported(
    cause: "This central cannot determine the address of the device's bootloader.",
    remedy: .advice("Use a dialer that receives the location (Dialer(at:))."))
}

extension ConnectFault {
  /// Converts the fault of a scan to the fault of a connection attempt.
  public init(_ fault: ScanFault) {
    switch fault {
    case .notFound(let limit):
      self = .deviceNotFound(
        cause: "No matching device advertised within \(limit).",
        remedy: .comeCloser)
    case .adapterUnavailable(let cause, let remedy):
      self = .adapterUnavailable(cause: cause, remedy: remedy)
    case .busy(let cause, let remedy): self = .busy(cause: cause, remedy: remedy)
    case .permissionDenied(let cause, let remedy):
      self = .permissionDenied(cause: cause, remedy: remedy)
    case .unsupported(let cause, let remedy):
      self = .adapterUnavailable(cause: cause, remedy: remedy)
    case .failed(let reason):
      self = .adapterUnavailable(cause: reason, remedy: .restartAdapter)
    case .cancelled: self = .cancelled
    }
  }
}
