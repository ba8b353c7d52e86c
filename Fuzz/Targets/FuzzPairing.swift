import OtaflashGATT

@testable import OtaflashBlueZ

/// Whatever the kernel says of pairings, in whatever order: a bond that grows from it has keys of one
/// device, two at most, and is found again by that device's address.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzPairing(_ data: UnsafePointer<UInt8>, _ size: Int) -> CInt {
  var ledger = PairingLedger()
  for packet in messages(inputBytes(data, size)) {
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
  return 0
}
