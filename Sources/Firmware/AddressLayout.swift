/// What a file says of addresses; the image itself has none.
public struct AddressLayout: Equatable, Sendable {
  /// Where execution starts: record type 03 or 05 of Intel HEX, the entry point of an ELF file.
  public enum Start: Equatable, Sendable {
    case segment(cs: UInt16, ip: UInt16)
    case linear(UInt32)
  }

  /// The address of the image's first byte.
  public let lowestAddress: UInt32
  public let start: Start?
  /// Bytes that the file gives; the rest of the image is fill.
  public let dataCount: Int

  public init(lowestAddress: UInt32, start: Start?, dataCount: Int) {
    self.lowestAddress = lowestAddress
    self.start = start
    self.dataCount = dataCount
  }
}
