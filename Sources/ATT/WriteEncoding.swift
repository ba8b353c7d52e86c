extension ATTPDU {
  /// Write Command (Core 5.4, Vol 3, Part F, 3.4.5.3) with a value put together from an optional
  /// little-endian 32-bit prefix and a part of a larger array.
  ///
  /// The path of every image octet: one allocation and one copy per PDU, equal to
  /// `ATTPDU.writeCommand(handle, value: prefix + octets).encoded`.
  public static func encodeWriteCommand(
    _ handle: AttributeHandle, prefix: UInt32? = nil, octets: ArraySlice<UInt8>
  ) -> [UInt8] {
    encodeWrite(.writeCommand, handle, prefix, octets)
  }

  /// Write Request (3.4.5.1) with a value put together as for `encodeWriteCommand`.
  public static func encodeWriteRequest(
    _ handle: AttributeHandle, prefix: UInt32? = nil, octets: ArraySlice<UInt8>
  ) -> [UInt8] {
    encodeWrite(.writeRequest, handle, prefix, octets)
  }

  private static func encodeWrite(
    _ opcode: ATTOpcode, _ handle: AttributeHandle, _ prefix: UInt32?, _ octets: ArraySlice<UInt8>
  ) -> [UInt8] {
    let headerSize = prefix == nil ? 3 : 7
    return [UInt8](unsafeUninitializedCapacity: headerSize + octets.count) { buffer, count in
      buffer.initializeElement(at: 0, to: opcode.rawValue)
      buffer.initializeElement(at: 1, to: UInt8(truncatingIfNeeded: handle.rawValue))
      buffer.initializeElement(at: 2, to: UInt8(handle.rawValue >> 8))
      if let prefix {
        for index in 0..<4 {
          buffer.initializeElement(
            at: 3 + index, to: UInt8(truncatingIfNeeded: prefix >> (8 * index)))
        }
      }
      _ = UnsafeMutableBufferPointer(rebasing: buffer[headerSize...]).initialize(from: octets)
      count = headerSize + octets.count
    }
  }
}
