extension ATTPDU {
  /// Encodes a Write Command (Core 5.4, Vol 3, Part F, 3.4.5.3) whose value is an optional
  /// little-endian 32-bit prefix and a part of a larger array. The result equals
  /// `ATTPDU.writeCommand(handle, value: prefix + bytes).encoded`.
  package static func encodeWriteCommand(
    _ handle: AttributeHandle, prefix: UInt32? = nil, bytes: ArraySlice<UInt8>
  ) -> [UInt8] {
    var pdu: [UInt8] = []
    encodeWrite(.writeCommand, handle, prefix, bytes, into: &pdu)
    return pdu
  }

  /// Encodes the same PDU into `pdu`, whose memory is reused: in a stream of PDUs of one size, only
  /// the first PDU needs an allocation.
  package static func encodeWriteCommand(
    _ handle: AttributeHandle, prefix: UInt32? = nil, bytes: ArraySlice<UInt8>,
    into pdu: inout [UInt8]
  ) {
    encodeWrite(.writeCommand, handle, prefix, bytes, into: &pdu)
  }

  /// Encodes a Write Request (3.4.5.1), whose value has the same parts as the value of
  /// `encodeWriteCommand`.
  package static func encodeWriteRequest(
    _ handle: AttributeHandle, prefix: UInt32? = nil, bytes: ArraySlice<UInt8>
  ) -> [UInt8] {
    var pdu: [UInt8] = []
    encodeWrite(.writeRequest, handle, prefix, bytes, into: &pdu)
    return pdu
  }

  private static func encodeWrite(
    _ opcode: ATTOpcode, _ handle: AttributeHandle, _ prefix: UInt32?, _ bytes: ArraySlice<UInt8>,
    into pdu: inout [UInt8]
  ) {
    pdu.removeAll(keepingCapacity: true)
    pdu.reserveCapacity(7 + bytes.count)
    pdu.append(opcode.rawValue)
    pdu.append(UInt8(truncatingIfNeeded: handle.rawValue))
    pdu.append(UInt8(handle.rawValue >> 8))
    if let prefix { withUnsafeBytes(of: prefix.littleEndian) { pdu.append(contentsOf: $0) } }
    pdu.append(contentsOf: bytes)
  }
}
