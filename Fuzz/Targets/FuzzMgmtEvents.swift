@testable import OtaflashBlueZ

/// Packets from the kernel are parsed as strictly as data from the air.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzMgmtEvents(_ data: UnsafePointer<UInt8>, _ size: Int) -> CInt {
  let packet = inputBytes(data, size)
  do throws(MgmtDecodeFault) {
    let decoded = try MgmtPacket(decoding: packet)
    precondition(packet.count >= 6)
    if case .commandComplete(_, _, let parameters) = decoded.event {
      _ = try ControllerInformation(decoding: parameters)
    }
  } catch {
    return 0
  }
  return 0
}
