/// Why a UF2 file gives no image. Blocks count from 0, as the file numbers them; each has 512
/// bytes.
#if hasAttribute(nonexhaustive)
@nonexhaustive
#endif
public enum UF2Fault: Error, Equatable, Sendable {
  /// The file's size is no multiple of 512: it was cut off.
  case cutOff(size: Int)
  /// The file has fewer blocks than they say: it was cut off between two of them.
  case blocksMissing(found: Int, count: UInt32)
  /// The three magic numbers around a block are not there.
  case wrongMagic(block: Int)
  /// A block's size of payload is more than the 476 bytes that it has room for.
  case payloadTooLong(block: Int, size: UInt32)
  /// A block that has another number, or another count of blocks, than its place says.
  case outOfOrder(block: Int, number: UInt32, count: UInt32)
  /// Files for a storage other than the flash, which is no firmware.
  case fileContainer(block: Int)
  /// A block for another chip than those before.
  case secondFamily(UF2Family?, block: Int)
  /// The payload would lie beyond the last 32-bit address.
  case addressTooHigh(block: Int, address: UInt32)
  /// Two blocks have bytes for one address, the lowest of which is told.
  case overlap(block: Int, other: Int, address: UInt32)
  /// What the blocks hold lies too far apart, or makes too large an image.
  case addresses(AddressFault)
  /// No block is for flash.
  case noData
}

extension UF2Fault: CustomStringConvertible {
  public var description: String {
    switch self {
    case .cutOff(let size): "UF2: \(size) bytes are no whole blocks of 512; the file was cut off"
    case .blocksMissing(let found, let count):
      "UF2: \(found) of \(count) blocks are there; the file was cut off"
    case .wrongMagic(let block): "UF2 block \(block): the magic numbers are not there"
    case .payloadTooLong(let block, let size):
      "UF2 block \(block): \(size) bytes of payload, at most 476 fit"
    case .outOfOrder(let block, let number, let count):
      "UF2 block \(block): it says that it is number \(number) of \(count)"
    case .fileContainer(let block): "UF2 block \(block): files, not the content of a flash"
    case .secondFamily(let family, let block):
      "UF2 block \(block): it is for \(family?.description ?? "no certain chip"), those before not"
    case .addressTooHigh(let block, let address):
      "UF2 block \(block): 0x\(address.hexadecimal) is too near the end of all addresses"
    case .overlap(let block, let other, let address):
      "UF2 block \(block): address 0x\(address.hexadecimal) again, which block \(other) has given"
    case .addresses(let fault): "UF2: \(fault)"
    case .noData: "UF2: no block is for the flash"
    }
  }
}

extension UF2Fault: AddressedFileFault {
  package var addresses: AddressFault? {
    if case .addresses(let fault) = self { fault } else { nil }
  }
}
