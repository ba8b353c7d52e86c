/// The storage for the keys of pairings between runs. A `PairingAgent` reads the keys at its start,
/// and stores new keys when devices pair.
///
/// An attacker with these keys can decrypt every link between the two devices. Store the keys so
/// that only their owner can read them.
public protocol BondStore: Sendable {
  /// Returns the bonds of an adapter.
  ///
  /// - Parameter adapter: the address of the adapter; keys belong to a pair of devices.
  func bonds(of adapter: BluetoothAddress) throws -> [Bond]

  /// Stores a bond, and replaces an older bond of the same two devices. The bond must be stored
  /// durably when the function returns, because the device has already stored its keys.
  func keep(_ bond: Bond, of adapter: BluetoothAddress) throws

  /// Removes a bond; returns `false` if the bond does not exist.
  func forget(_ device: BluetoothAddress, of adapter: BluetoothAddress) throws -> Bool
}

extension PairingAgent {
  /// Creates an agent that keeps its bonds in a store. If the store fails, the failure is reported
  /// and the update continues, but the devices must be paired again.
  ///
  /// - Parameters:
  ///   - adapter: the adapter's number; `hci0` is 0.
  ///   - makesBonds: `false` uses only the keys of earlier pairings.
  ///   - bonding: the conditions under which new pairings store keys.
  ///   - user: supplies the answers to the kernel's requests.
  ///   - store: the storage of the keys.
  ///   - paired: called once for each new pairing. The closure must return quickly.
  ///   - trouble: receives the errors of the store. The closure must return quickly.
  public convenience init(
    adapter: UInt16, makesBonds: Bool, bonding: Bonding = .whenRequired, user: PairingUser,
    store: any BondStore, paired: @escaping @Sendable (Pairing) -> Void = { _ in },
    trouble: @escaping @Sendable (BondStoreTrouble) -> Void = { _ in }
  ) {
    self.init(
      adapter: adapter, makesBonds: makesBonds, bonding: bonding, user: user,
      bonds: { address in
        do { return try store.bonds(of: address) } catch {
          trouble(.notRead(error))
          return []
        }
      },
      keep: { bond, address in
        do { try store.keep(bond, of: address) } catch { trouble(.notKept(bond.device, error)) }
      }, paired: paired)
  }
}

/// A failed operation of a `BondStore` for a `PairingAgent`.
#if hasAttribute(nonexhaustive)
@nonexhaustive
#endif
public enum BondStoreTrouble: Error {
  /// The keys of earlier pairings could not be read from the store.
  case notRead(any Error)
  /// The bond was not stored, so the device must be paired again for the next link.
  case notKept(BluetoothAddress, any Error)
}
