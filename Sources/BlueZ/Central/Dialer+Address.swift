import OtaflashGATT

extension Dialer {
  /// Connects to an address, without a scan, and to the one next to it where the device runs its
  /// bootloader there.
  ///
  /// - Parameters:
  ///   - address: the device's own; its bootloader is looked for at the next one.
  ///   - adapter: the own adapter's address; `nil` leaves the choice to the kernel.
  ///   - limit: the longest time to connect.
  ///   - security: what the link offers from its first PDU on.
  ///   - pairing: answers the kernel where the device wants to pair; `nil` leaves that to others.
  ///   - tuner: asks for the link's parameters; `nil` takes them as they come.
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
