import OtaflashBlueZ
import OtaflashFleet
import OtaflashSimulation

/// How the commands pair: who answers, and where the keys are kept.
struct RadioPairing: Sendable {
  /// When a device that wants a secure link gets one.
  enum Policy: Sendable {
    /// By the keys of an earlier pairing only.
    case bondsOnly
    /// By pairing, where there are no keys.
    case onDemand
  }

  /// An agent for the session's adapter, not yet started. Keys are worth a note, never a failed
  /// update.
  static func agent(_ policy: Policy, in session: Session) -> PairingAgent {
    let console = session.console
    return PairingAgent(
      adapter: session.global.adapterNumber ?? 0, makesBonds: policy == .onDemand,
      user: PairingDialogue(session: session).user,
      bonds: { adapter in
        console.attempt(orNote: "the keys of earlier pairings were not read", verbosity: 1) {
          () throws(StateFault) in try Self.bonds(of: adapter, in: session)
        } ?? []
      },
      keep: { bond, adapter in
        console.attempt(orNote: "the keys were not kept; the devices must be paired again") {
          () throws(StateFault) in try Self.keep(bond, of: adapter, in: session)
        }
      })
  }

  /// An agent for a simulated device. It consents to everything; one that wants authenticated links
  /// shows a passkey. Its keys live as long as the adapter does.
  static func deviceAgent(
    of adapter: UInt16, _ security: SimulationProfile.Security, in session: Session
  ) -> PairingAgent {
    let display = PairingUser(
      capability: .displayOnly, confirm: { _ in true }, passkey: { _ in nil },
      show: { _, passkey in
        let digits = PairingDialogue.digits(passkey)
        session.console.event("passkey", ["passkey": .string(digits)])
        session.console.result("passkey \(digits)")
      })
    return PairingAgent(
      adapter: adapter, makesBonds: true, user: security == .authenticated ? display : .nobody,
      bonds: { _ in [] }, keep: { _, _ in })
  }

  private static func bonds(
    of adapter: BluetoothAddress, in session: Session
  ) throws(StateFault) -> [Bond] {
    let (records, setAside) = try store(session).bonds(of: "\(adapter)")
    for path in setAside { session.console.note("the damaged keys of a pairing are now \(path)") }
    return records.compactMap { record in
      if record.bond == nil {
        session.console.note("note: the keys of the pairing with \(record.device) make no sense")
      }
      return record.bond
    }
  }

  private static func keep(
    _ bond: Bond, of adapter: BluetoothAddress, in session: Session
  ) throws(StateFault) {
    try store(session).keep(
      BondRecord(bond, adapter: adapter, at: Timestamp.secondsSince1970()))
  }

  static func store(_ session: Session) throws(StateFault) -> BondStore {
    BondStore(in: try DeviceRecords(of: session).directory)
  }
}
