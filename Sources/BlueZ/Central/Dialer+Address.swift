import OtaflashGATT

extension Dialer {
  /// Creates a dialer that connects to an address without a scan, or to an address derived from it
  /// if the device runs its bootloader there.
  ///
  /// - Parameters:
  ///   - address: the device's own address.
  ///   - adapter: the address of the adapter; with `nil` the kernel chooses the adapter.
  ///   - limit: the time limit to connect.
  ///   - security: the minimum security of the link from its first PDU on.
  ///   - pairing: handles the kernel's requests if the device requires pairing; with `nil` another
  ///   process must handle the requests.
  ///   - tuner: requests link parameters; `nil` keeps the parameters of the kernel.
  public init(
    to address: BluetoothAddress, adapter: BluetoothAddress? = nil, within limit: Duration,
    security: SecurityLevel = .low, pairing: PairingAgent? = nil, tuner: LinkTuner? = nil
  ) {
    let dialer = Dialer(at: { (place) async throws(ConnectFault) -> any Link in
      guard let peer = address.at(place) else {
        throw .deviceNotFound(
          cause: "A dialer for an address does not scan for a name.",
          remedy: .advice("Use a dialer that scans."))
      }
      return try await L2CAPLink.connect(
        to: peer, adapter: adapter, within: limit,
        security: security, pairing: pairing, tuner: tuner)
    })
    self = dialer.reaching(address.description)
  }
}
