/// The BTSnoop file format, version 1, with HCI packets in UART framing (datalink 1002). Programs
/// such as btmon, Wireshark, tshark and Android read this format.
///
/// A file is `fileHeader` followed by records, each a complete HCI packet with a time and a
/// direction. All fields are big-endian.
package enum BTSnoop {
  /// `btsnoop\0`, version 1, datalink 1002 (HCI UART, H4).
  package static let fileHeader: [UInt8] =
    Array("btsnoop\0".utf8) + [0, 0, 0, 1, 0, 0, 0x03, 0xEA]
  /// The size of a record's header in bytes.
  static let recordHeaderSize = 24
  /// The microseconds from the format's epoch, in the year 0, to 1970.
  private static let microsecondsTo1970: Int64 = 0x00DC_DDB3_0F2F_8000

  /// Returns one record.
  ///
  /// - Parameters:
  ///   - packet: the HCI packet with its H4 type byte.
  ///   - direction: the direction, seen from the host.
  ///   - microseconds: the time of the packet, since 1970.
  static func record(
    _ packet: HCIPacket, _ direction: TracingLink.Direction, at microseconds: Int64
  ) -> [UInt8] {
    var record: [UInt8] = []
    record.reserveCapacity(recordHeaderSize + packet.bytes.count)
    append(UInt32(packet.bytes.count), to: &record)
    // The record is not truncated, so the included length equals the original length.
    append(UInt32(packet.bytes.count), to: &record)
    append(flags(of: packet, direction), to: &record)
    let dropped: UInt32 = 0
    append(dropped, to: &record)
    append(UInt64(bitPattern: microseconds &+ microsecondsTo1970), to: &record)
    return record + packet.bytes
  }

  /// Returns the flags of a record. Bit 0: from the controller to the host. Bit 1: a command or an
  /// event, not data.
  private static func flags(
    of packet: HCIPacket, _ direction: TracingLink.Direction
  ) -> UInt32 {
    (direction == .received ? 1 : 0) | (packet.isData ? 0 : 2)
  }

  private static func append(_ value: some FixedWidthInteger, to bytes: inout [UInt8]) {
    withUnsafeBytes(of: value.bigEndian) { bytes.append(contentsOf: $0) }
  }
}
