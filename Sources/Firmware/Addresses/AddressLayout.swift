/// The addresses in a file; the image itself contains no addresses.
public struct AddressLayout: Equatable, Sendable {
  /// The start of execution: a record of type 03 or 05 in Intel HEX, a record of type S7, S8 or S9
  /// in S-records, or the entry point of an ELF file.
  public enum Start: Equatable, Sendable {
    /// Code segment and instruction pointer of an 80x86.
    case segment(cs: UInt16, ip: UInt16)
    /// An address.
    case linear(UInt32)
  }

  /// Data of the file that is not part of the image.
  public struct LeftOut: Equatable, Sendable {
    /// The addresses of the data.
    public let region: AddressRegion
    /// The number of data bytes in the file.
    public let dataCount: Int
    /// The known region; `nil` for data outside of the requested region.
    public let known: KnownRegion?

    /// Creates the description of a part of a file that is not in the image.
    public init(region: AddressRegion, dataCount: Int, known: KnownRegion?) {
      self.region = region
      self.dataCount = dataCount
      self.known = known
    }
  }

  /// The address of the image's first byte.
  public let lowestAddress: UInt32
  /// The start address of the program, if the file states it.
  public let start: Start?
  /// The number of data bytes in the file; the rest of the image is fill.
  public let dataCount: Int
  /// The excluded parts, in order of addresses.
  public let leftOut: [LeftOut]

  /// Creates the layout of an image, with the excluded parts of its file.
  public init(lowestAddress: UInt32, start: Start?, dataCount: Int, leftOut: [LeftOut] = []) {
    self.lowestAddress = lowestAddress
    self.start = start
    self.dataCount = dataCount
    self.leftOut = leftOut
  }
}
