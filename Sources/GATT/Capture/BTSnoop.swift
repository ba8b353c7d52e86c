/// The BTSnoop file format, version 1, with HCI packets as a UART carries them (datalink 1002):
/// what btmon, Wireshark, tshark and Android read.
///
/// A file is `fileHeader` and then one record after another, each a whole HCI packet with a time
/// and a direction. All fields are big-endian.
package enum BTSnoop {
  /// `btsnoop\0`, version 1, datalink 1002 (HCI UART, H4).
  package static let fileHeader: [UInt8] =
    Array("btsnoop\0".utf8) + [0, 0, 0, 1, 0, 0, 0x03, 0xEA]
  /// The bytes before a record's packet.
  static let recordHeaderSize = 24
  /// Microseconds from the format's beginning of time, in the year 0, to 1970.
  private static let microsecondsTo1970: Int64 = 0x00DC_DDB3_0F2F_8000

  /// One record.
  /// - Parameters:
  ///   - packet: the HCI packet with its H4 type byte.
  ///   - direction: from the host's side.
  ///   - microseconds: when it crossed, since 1970.
  static func record(
    _ packet: HCIPacket, _ direction: TracingLink.Direction, at microseconds: Int64
  ) -> [UInt8] {
    var record: [UInt8] = []
    record.reserveCapacity(recordHeaderSize + packet.bytes.count)
    append(UInt32(packet.bytes.count), to: &record)
    // Captured in full, so the included length is the original one.
    append(UInt32(packet.bytes.count), to: &record)
    append(flags(of: packet, direction), to: &record)
    let dropped: UInt32 = 0
    append(dropped, to: &record)
    append(UInt64(bitPattern: microseconds &+ microsecondsTo1970), to: &record)
    return record + packet.bytes
  }

  /// Bit 0: from the controller to the host. Bit 1: a command or an event, not data.
  private static func flags(
    of packet: HCIPacket, _ direction: TracingLink.Direction
  ) -> UInt32 {
    (direction == .received ? 1 : 0) | (packet.isData ? 0 : 2)
  }

  private static func append(_ value: some FixedWidthInteger, to bytes: inout [UInt8]) {
    withUnsafeBytes(of: value.bigEndian) { bytes.append(contentsOf: $0) }
  }
}
