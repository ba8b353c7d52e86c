import OtaflashWire

/// The packet does not have the shape of its event; the kernel never sends such a one.
package struct MgmtDecodeFault: Error, Equatable {}

/// The fields of a packet of the management interface, or of the controller. A name of its own for
/// `ByteReader`, because one parser reads the packets of two sources, and both need only one fault:
/// the packet is malformed.
typealias MgmtFields = ByteReader<MgmtDecodeFault>

extension MgmtFields {
  init(_ bytes: ArraySlice<UInt8>) { self.init(bytes, orThrow: MgmtDecodeFault()) }
}
