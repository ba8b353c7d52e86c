/// The reason why an init packet was rejected. Offsets count from the packet's first byte.
#if hasAttribute(nonexhaustive)
@nonexhaustive
#endif
public enum InitPacketFault: Error, Equatable, Sendable {
  /// The packet is empty.
  case empty
  /// The packet exceeds the limit of devices.
  case tooLarge(limit: Int)
  /// The bytes are not a protocol-buffers message.
  case notProtobuf(offset: Int, String)
  /// A field is missing, occurs twice, or has another type or length; the text states the error.
  case field(String, offset: Int, String)
  /// A field contains a number that is not valid for this field.
  case value(String, UInt64, offset: Int)
  /// The length of a Legacy DFU packet does not match its fields.
  case wrongLength(expected: Int, found: Int)
  /// The packet and the manifest state different parts of the device.
  case roleDiffers(packet: NordicRole, manifest: NordicRole)
}

extension InitPacketFault: CustomStringConvertible {
  public var description: String {
    switch self {
    case .empty: "the init packet is empty"
    case .tooLarge(let limit): "the init packet has more than \(limit) bytes"
    case .notProtobuf(let offset, let detail): "the init packet, offset \(offset): \(detail)"
    case .field(let name, let offset, let detail):
      "the init packet, offset \(offset): \(name) \(detail)"
    case .value(let name, let value, let offset):
      "the init packet, offset \(offset): \(name) is \(value), which is not valid"
    case .wrongLength(let expected, let found):
      "the init packet has \(found) bytes, but its fields need \(expected)"
    case .roleDiffers(let packet, let manifest):
      "the init packet is for the \(packet), but the manifest states \(manifest)"
    }
  }
}
