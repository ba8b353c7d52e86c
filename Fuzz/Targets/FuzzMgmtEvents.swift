@testable import OtaflashBlueZ

/// Packets from the kernel are parsed as strictly as data from the air.
func fuzzMgmtEvents(_ packet: [UInt8]) {
  do throws(MgmtDecodeFault) {
    let decoded = try MgmtPacket(decoding: packet)
    precondition(packet.count >= 6)
    if case .commandComplete(_, _, let parameters) = decoded.event {
      _ = try ControllerInformation(decoding: parameters)
    }
  } catch {
    return
  }
}
