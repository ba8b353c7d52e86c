/// The reason why an ELF file was rejected. Segments count from 0, in the order of the program
/// headers.
#if hasAttribute(nonexhaustive)
@nonexhaustive
#endif
public enum ELFFault: Error, Equatable, Sendable {
  /// The file ends within the ELF header; `found` is the number of bytes in the file.
  case headerCutOff(found: Int)
  /// The file has a class other than 32 or 64 bits.
  case unknownClass(UInt8)
  /// `EI_DATA` does not state little-endian byte order; all supported chips are little-endian.
  case bigEndian
  /// The file is neither a linked program nor a shared object; an object file has no load
  /// addresses.
  case notExecutable(type: UInt16)
  /// The program headers exceed the file, or do not have the size that their class requires.
  case programHeadersOutOfPlace(offset: UInt64, count: Int, size: UInt16)
  /// The file has more segments than any firmware.
  case tooManySegments(count: Int, limit: Int)
  /// A segment exceeds the file.
  case segmentBeyondEnd(segment: Int, offset: UInt64, size: UInt64)
  /// The segment contains the file's own header, followed by bytes that no valid section table
  /// identifies as firmware.
  case segmentHoldsHeader(segment: Int)
  /// The segment starts or ends outside of the 32-bit physical addresses.
  case addressTooHigh(segment: Int, address: UInt64)
  /// Two segments contain the same address; the lowest such address is reported.
  case overlap(segment: Int, other: Int, address: UInt32)
  /// The addresses of the segments do not describe one image.
  case addresses(AddressFault)
  /// No segment of type `PT_LOAD` has bytes in the file.
  case noData
}

extension ELFFault: CustomStringConvertible {
  public var description: String {
    switch self {
    case .headerCutOff(let found): "ELF: the header is truncated after \(found) bytes"
    case .unknownClass(let value): "ELF: class \(value) is neither 32 nor 64 bits"
    case .bigEndian: "ELF: big-endian files are not supported"
    case .notExecutable(let type): "ELF: type \(type) is not a linked program"
    case .programHeadersOutOfPlace(let offset, let count, let size):
      "ELF: \(count) program headers of \(size) bytes at offset \(offset) are not in the file"
    case .tooManySegments(let count, let limit):
      "ELF: \(count) segments; at most \(limit) are supported"
    case .segmentBeyondEnd(let segment, let offset, let size):
      "ELF segment \(segment): \(size) bytes at offset \(offset) extend past the end of the file"
    case .segmentHoldsHeader(let segment):
      "ELF segment \(segment): it contains the file's own header, followed by firmware; "
        + "create a binary of the sections with objcopy"
    case .addressTooHigh(let segment, let address):
      "ELF segment \(segment): it does not fit 32-bit addresses at 0x\(address.hexadecimal)"
    case .overlap(let segment, let other, let address):
      "ELF segment \(segment): address 0x\(address.hexadecimal) again, after segment \(other)"
    case .addresses(let fault): "ELF: \(fault)"
    case .noData: "ELF: no segment is loaded into memory"
    }
  }
}

extension ELFFault: AddressedFileFault {
  package var addresses: AddressFault? {
    if case .addresses(let fault) = self { fault } else { nil }
  }
}
