import OtaflashBlueZ
import OtaflashConsole
import OtaflashSimulation
import OtaflashState

/// The pairing of the commands: the dialogue, and the store of the keys.
package struct RadioPairing: Sendable {
  /// The condition under which a device that requires a secure link is paired.
  package enum Policy: Sendable {
    /// Never; only the keys of an earlier pairing are used.
    case bondsOnly
    /// If the device requires keys that this host does not have.
    case onDemand
    /// If this host has no keys. The command reports the pairing.
    case always
  }

  /// Returns an agent for an adapter, by default the adapter of the session. The agent is not
  /// started yet. If keys cannot be stored, a note is printed; an update never fails for this
  /// reason.
  package static func agent(
    _ policy: Policy, of adapter: UInt16? = nil, in session: Session
  ) -> PairingAgent {
    let console = session.console
    return PairingAgent(
      adapter: adapter ?? session.global.adapterNumber ?? 0, makesBonds: policy != .bondsOnly,
      bonding: policy == .always ? .always : .whenRequired,
      user: PairingDialogue(session: session).user, store: SessionBonds(session: session),
      paired: { if policy != .always { report($0, on: console) } }
    ) { trouble in
      switch trouble {
      case .notRead(let error):
        console.note("note: the keys of earlier pairings were not read: \(error)", verbosity: 1)
      case .notKept(let device, let error):
        console.note("note: the keys were not stored; \(device) must be paired again: \(error)")
      }
    }
  }

  private static func report(_ pairing: PairingAgent.Pairing, on console: Console) {
    let device = "\(pairing.device)"
    console.event(
      "pairing",
      [
        "device": .string(device), "authenticated": .bool(pairing.isAuthenticated),
        "new": .bool(true), "kept": .bool(pairing.isKept),
      ])
    console.note(
      "  paired (\(pairing.isAuthenticated ? "passkey" : "Just Works")) with \(device)"
        + (pairing.isKept ? "" : ", for this link only"))
  }

  /// Returns an agent for a simulated device. The agent accepts every pairing. A device that
  /// requires authenticated links shows a passkey. The keys are not stored.
  package static func deviceAgent(
    of adapter: UInt16, _ security: BoardSettings.Security, in session: Session
  ) -> PairingAgent {
    let display = PairingUser(
      capability: .displayOnly, confirm: { _ in true }, passkey: { _ in nil },
      show: { _, passkey in
        let digits = PairingDialogue.digits(passkey)
        session.console.event("passkey", ["passkey": .string(digits)])
        session.console.result("passkey \(digits)")
      })
    return PairingAgent(
      adapter: adapter, makesBonds: true, bonding: .always,
      user: security == .authenticated ? display : .unattended,
      bonds: { _ in [] }, keep: { _, _ in })
  }
}

/// The bonds of this user, in the state directory, which is located on first use.
package struct SessionBonds: BondStore {
  package let session: Session

  package func bonds(of adapter: BluetoothAddress) throws(StateFault) -> [Bond] {
    try files().bonds(of: adapter)
  }

  package func keep(_ bond: Bond, of adapter: BluetoothAddress) throws(StateFault) {
    try files().keep(bond, of: adapter)
  }

  package func forget(
    _ device: BluetoothAddress, of adapter: BluetoothAddress
  ) throws(StateFault) -> Bool {
    try files().forget(device, of: adapter)
  }

  private func files() throws(StateFault) -> BondFiles {
    let console = session.console
    return BondFiles(in: try StateStore(of: session).directory) { path in
      console.note("the damaged keys of a pairing are now \(path)")
    }
  }
}
