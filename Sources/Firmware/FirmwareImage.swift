/// An image ready to be sent: the bytes that go to the slot, and what is known of them.
public struct FirmwareImage: Equatable, Sendable {
  /// The file format that the bytes came from.
  public enum Format: String, Sendable, CaseIterable {
    case binary
    case intelHex = "intel-hex"
  }

  /// How a person names the image: the file's last path component, or `-` for standard input.
  public let name: String
  public let format: Format
  /// The bytes of the slot, from its first address; gaps of a HEX file are filled with 0xFF.
  public let bytes: [UInt8]
  /// CRC32 (IEEE, as zlib's) of `bytes`.
  public let crc32: UInt32
  /// From the embedded descriptor, the sidecar file or the command line; `nil` when nobody says.
  public let version: FirmwareVersion?
  public let hardware: HardwareID?
  /// The addresses of an Intel HEX file; `nil` for a raw binary, which has none.
  public let layout: IntelHexLayout?

  public init(
    name: String, format: Format, bytes: [UInt8], version: FirmwareVersion?, hardware: HardwareID?,
    layout: IntelHexLayout? = nil
  ) {
    self.name = name
    self.format = format
    self.bytes = bytes
    self.crc32 = CRC32.checksum(bytes)
    self.version = version
    self.hardware = hardware
    self.layout = layout
  }
}
