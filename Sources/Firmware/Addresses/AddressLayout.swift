/// What a file says of addresses; the image itself has none.
public struct AddressLayout: Equatable, Sendable {
  /// Where execution starts: record type 03 or 05 of Intel HEX, the entry point of an ELF file.
  public enum Start: Equatable, Sendable {
    /// Code segment and instruction pointer of an 80x86.
    case segment(cs: UInt16, ip: UInt16)
    /// An address.
    case linear(UInt32)
  }

  /// Data of the file that is no part of the image.
  public struct LeftOut: Equatable, Sendable {
    /// Where it lies.
    public let region: AddressRegion
    /// Bytes that the file gives there.
    public let dataCount: Int
    /// Why; `nil` for what lies outside the region that was asked for.
    public let known: KnownRegion?

    /// A part of a file that is not in the image.
    public init(region: AddressRegion, dataCount: Int, known: KnownRegion?) {
      self.region = region
      self.dataCount = dataCount
      self.known = known
    }
  }

  /// The address of the image's first byte.
  public let lowestAddress: UInt32
  /// Where the program begins, where the file says it.
  public let start: Start?
  /// Bytes that the file gives for the image; the rest of it is fill.
  public let dataCount: Int
  /// In order of addresses.
  public let leftOut: [LeftOut]

  /// Where an image lies, and what of its file is not in it.
  public init(lowestAddress: UInt32, start: Start?, dataCount: Int, leftOut: [LeftOut] = []) {
    self.lowestAddress = lowestAddress
    self.start = start
    self.dataCount = dataCount
    self.leftOut = leftOut
  }
}
