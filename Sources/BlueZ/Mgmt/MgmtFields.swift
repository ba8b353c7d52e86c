import OtaflashWire

/// The packet does not have the shape of its event; the kernel never sends such a one.
package struct MgmtDecodeFault: Error, Equatable {}

/// The fields of a packet of the management interface, or of the controller.
typealias MgmtFields = OctetReader<MgmtDecodeFault>

extension MgmtFields {
  init(_ octets: ArraySlice<UInt8>) { self.init(octets, orThrow: MgmtDecodeFault()) }
}
