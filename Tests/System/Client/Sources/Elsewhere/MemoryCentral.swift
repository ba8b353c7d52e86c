import OtaflashGATT

/// A custom scanner and central: devices in this process, each reported ten times a second.
public struct MemoryCentral: Central {
  /// A device in range.
  public struct Device: Sendable {
    let advertisement: Advertisement
    let accept: @Sendable (OwnLink) -> Void

    /// - Parameters:
    ///   - advertisement: the advertisement of the device; its `id` identifies the device.
    ///   - accept: receives the device's end of each connection.
    public init(_ advertisement: Advertisement, accept: @escaping @Sendable (OwnLink) -> Void) {
      self.advertisement = advertisement
      self.accept = accept
    }
  }

  private let devices: [Device]
  public let clock: any LinkClock

  /// An environment that does not change.
  public init(_ devices: [Device], on clock: any LinkClock) {
    self.devices = devices
    self.clock = clock
  }

  public func advertisements(
    matching filter: AdvertisementFilter, eachOnce: Bool
  ) -> MemoryAdvertisements {
    MemoryAdvertisements(
      devices: devices.map(\.advertisement), filter: filter, eachOnce: eachOnce, clock: clock)
  }

  public func connect(
    to device: Advertisement, within limit: Duration
  ) async throws(ConnectFault) -> any Link {
    guard let found = devices.first(where: { $0.advertisement.id == device.id }) else {
      throw .deviceNotFound(cause: "No device is called \(device.id).", remedy: .comeCloser)
    }
    let (host, end) = OwnLink.pair()
    found.accept(end)
    return host
  }
}

/// The advertisements of a scan. It starts when the first element is requested, and ends with its
/// reader.
public struct MemoryAdvertisements: AsyncSequence, Sendable {
  let devices: [Advertisement]
  let filter: AdvertisementFilter
  let eachOnce: Bool
  let clock: any LinkClock

  public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(scan: self) }

  public struct AsyncIterator: AsyncIteratorProtocol {
    let scan: MemoryAdvertisements
    private var round: ArraySlice<Advertisement> = []
    private var reported: Set<Advertisement.ID> = []

    init(scan: MemoryAdvertisements) { self.scan = scan }

    public mutating func next() async throws(ScanFault) -> Advertisement? {
      try await next(isolation: nil)
    }

    public mutating func next(
      isolation actor: isolated (any Actor)?
    ) async throws(ScanFault) -> Advertisement? {
      while true {
        while let device = round.popFirst() {
          guard scan.filter.accepts(device) else { continue }
          if !scan.eachOnce || reported.insert(device.id).inserted { return device }
        }
        guard await scan.clock.pause(for: .milliseconds(100)) else { throw .cancelled }
        round = scan.devices[...]
      }
    }
  }
}
