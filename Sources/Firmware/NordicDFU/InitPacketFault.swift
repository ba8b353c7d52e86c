/// Why an init packet cannot be used. Offsets count from the packet's first byte.
#if hasAttribute(nonexhaustive)
@nonexhaustive
#endif
public enum InitPacketFault: Error, Equatable, Sendable {
  /// The packet has no bytes.
  case empty
  /// More bytes than a device takes.
  case tooLarge(limit: Int)
  /// The bytes are no protocol-buffers message.
  case notProtobuf(offset: Int, String)
  /// A field that must be there once is missing, or stands twice.
  case field(String, offset: Int, String)
  /// A number that has no meaning for this field.
  case value(String, UInt64, offset: Int)
  /// A Legacy DFU packet has another length than its fields.
  case wrongLength(expected: Int, found: Int)
  /// The packet is for another part of the device than the manifest says.
  case roleDiffers(packet: NordicRole, manifest: NordicRole)
}

extension InitPacketFault: CustomStringConvertible {
  public var description: String {
    switch self {
    case .empty: "the init packet has no bytes"
    case .tooLarge(let limit): "the init packet has more than \(limit) bytes"
    case .notProtobuf(let offset, let detail): "the init packet, offset \(offset): \(detail)"
    case .field(let name, let offset, let detail):
      "the init packet, offset \(offset): \(name) \(detail)"
    case .value(let name, let value, let offset):
      "the init packet, offset \(offset): \(name) is \(value), which has no meaning"
    case .wrongLength(let expected, let found):
      "the init packet has \(found) bytes, its fields have \(expected)"
    case .roleDiffers(let packet, let manifest):
      "the init packet is for the \(packet), the manifest says \(manifest)"
    }
  }
}
