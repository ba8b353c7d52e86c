import OtaflashGATT

@testable import OtaflashBlueZ

/// Pairing events of the kernel in any order: a resulting bond has one or two keys of one device,
/// and the ledger then knows this device.
func fuzzPairing(_ input: [UInt8]) {
  var ledger = PairingLedger()
  for packet in messages(input) {
    do throws(MgmtDecodeFault) {
      guard case .pairing(let event) = try MgmtPacket(decoding: packet).event,
        let bond = ledger.take(event)
      else { continue }
      precondition((1...Bond.keysMaximum).contains(bond.longTermKeys.count))
      precondition(
        Bond(longTermKeys: bond.longTermKeys, identityResolvingKey: bond.identityResolvingKey)
          == bond)
      precondition(ledger.wasPaired(bond.device) || ledger.bond(of: bond.device) != nil)
    } catch {
      continue
    }
  }
}
