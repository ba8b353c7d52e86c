/// Where the keys of pairings are kept from one run to the next. A `PairingAgent` reads it when it
/// starts and writes to it when devices pair.
///
/// The keys open every link of the two devices: keep them where their owner alone can read them.
public protocol BondStore: Sendable {
  /// The bonds of an adapter.
  ///
  /// - Parameter adapter: the adapter's own address; keys belong to a pair of devices.
  func bonds(of adapter: BluetoothAddress) throws -> [Bond]

  /// Keeps a bond in place of an older one of the same two devices. It must be on disk, or wherever
  /// it is kept, when this returns: the device has its half already.
  func keep(_ bond: Bond, of adapter: BluetoothAddress) throws

  /// `false` when there was none.
  func forget(_ device: BluetoothAddress, of adapter: BluetoothAddress) throws -> Bool
}

extension PairingAgent {
  /// An agent that keeps its bonds in a store. A store that fails ends no update: its failure is
  /// told, and the devices must be paired again.
  ///
  /// - Parameters:
  ///   - adapter: the adapter's number; `hci0` is 0.
  ///   - makesBonds: `false` uses the keys of earlier pairings only.
  ///   - bonding: when new pairings leave keys behind.
  ///   - user: who answers the kernel's questions.
  ///   - store: where the keys are kept.
  ///   - paired: is called once for each pairing that is made. It must return soon.
  ///   - trouble: gets what the store threw. It must return soon.
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

/// What a `BondStore` could not do for a `PairingAgent`.
#if hasAttribute(nonexhaustive)
@nonexhaustive
#endif
public enum BondStoreTrouble: Error {
  /// The keys of earlier pairings are not known to the kernel.
  case notRead(any Error)
  /// The device must be paired again for the next link.
  case notKept(BluetoothAddress, any Error)
}
