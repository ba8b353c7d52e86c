import OtaflashFirmware

/// Any bytes are an init packet of one of the two protocols, or are rejected. The signed bytes are
/// fewer than the bytes of the input.
func fuzzInitPacket(_ bytes: [UInt8]) {
  do throws(InitPacketFault) {
    let packet = try SecureInitPacket(decoding: bytes)
    precondition(packet.signedBytes.count < bytes.count)
    precondition(packet.sizes.total >= 0 && packet.requiredSoftdevices.count <= 16)
  } catch {
    _ = error.description
  }
  do throws(InitPacketFault) {
    let packet = try LegacyInitPacket(decoding: bytes)
    // A packet has at most 128 bytes, of which 12 are other fields.
    precondition(packet.softdevices.count <= 58)
  } catch {
    _ = error.description
  }
}
