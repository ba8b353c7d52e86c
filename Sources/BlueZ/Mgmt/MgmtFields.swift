import OtaflashWire

/// The fault of a packet that does not have the format of its event. The kernel never sends such a
/// packet.
package struct MgmtDecodeFault: Error, Equatable {}

/// The fields of a packet from the management interface or the controller. One parser reads the
/// packets of both sources; the fault states only that the packet is malformed.
typealias MgmtFields = ByteReader<MgmtDecodeFault>

extension MgmtFields {
  init(_ bytes: ArraySlice<UInt8>) { self.init(bytes, orThrow: MgmtDecodeFault()) }
}
