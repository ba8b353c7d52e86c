/// The state of an adapter's pairings: the known bonds and the new bonds. The type has no side
/// effects.
struct PairingLedger: Sendable {
  private var known: [BluetoothAddress: Bond]
  /// Bonds created since the ledger was opened. The first key of a new pairing replaces the
  /// complete older bond.
  private var made: [BluetoothAddress: Bond] = [:]
  private var identities: [BluetoothAddress: IdentityResolvingKey] = [:]
  /// The identity address of each address that was used on the air.
  private var aliases: [BluetoothAddress: BluetoothAddress] = [:]

  init(bonds: [Bond] = []) {
    known = Dictionary(bonds.map { ($0.device, $0) }, uniquingKeysWith: { first, _ in first })
  }

  /// Returns the bond of a device, by its identity address or by the address that the device used
  /// on the air.
  func bond(of device: BluetoothAddress) -> Bond? {
    for identity in [device, aliases[device]].compactMap(\.self) {
      if let bond = made[identity] ?? known[identity] { return bond }
    }
    return nil
  }

  /// Returns the identity address of a device that uses `device` on the air.
  func identity(of device: BluetoothAddress) -> BluetoothAddress { aliases[device] ?? device }

  /// Returns whether the device was paired since the ledger was opened.
  func wasPaired(_ device: BluetoothAddress) -> Bool {
    made[device] != nil || aliases[device].map { made[$0] != nil } ?? false
  }

  /// Processes an event of the kernel. Returns a bond to store if the bond is new or was extended.
  mutating func take(_ event: PairingEvent) -> Bond? {
    switch event {
    case .newIdentityResolvingKey(let key, let used, let isToBeKept):
      if let used { aliases[used] = key.device }
      guard isToBeKept else { return nil }
      identities[key.device] = key
      guard made[key.device] != nil else { return nil }
      made[key.device]?.identityResolvingKey = key
      return made[key.device]
    case .newLongTermKey(let key, let isToBeKept):
      guard isToBeKept, key.kind != .debug else { return nil }
      var bond = made[key.device] ?? Bond(key, identities[key.device])
      bond.add(key)
      made[key.device] = bond
      return bond
    case .confirmationRequest, .passkeyRequest, .passkeyNotification, .authenticationFailed,
      .disconnected:
      return nil
    }
  }
}
