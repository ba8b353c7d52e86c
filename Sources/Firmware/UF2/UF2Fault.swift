/// The reason why a UF2 file was rejected. Blocks count from 0, as in the file; each has 512 bytes.
#if hasAttribute(nonexhaustive)
@nonexhaustive
#endif
public enum UF2Fault: Error, Equatable, Sendable {
  /// The file's size is not a multiple of 512, so the file was truncated.
  case cutOff(size: Int)
  /// The file has fewer blocks than stated, so it was truncated between two blocks.
  case blocksMissing(found: Int, count: UInt32)
  /// A block without the three magic numbers.
  case wrongMagic(block: Int)
  /// A block whose stated payload exceeds the maximum of 476 bytes.
  case payloadTooLong(block: Int, size: UInt32)
  /// A block whose number or count of blocks does not match its position.
  case outOfOrder(block: Int, number: UInt32, count: UInt32)
  /// The blocks contain files for a storage other than flash.
  case fileContainer(block: Int)
  /// A block for a chip other than the chip of the previous blocks.
  case secondFamily(UF2Family?, block: Int)
  /// The payload would exceed the 32-bit address space.
  case addressTooHigh(block: Int, address: UInt32)
  /// Two blocks contain the same address; the lowest such address is reported.
  case overlap(block: Int, other: Int, address: UInt32)
  /// The addresses of the blocks do not describe one image.
  case addresses(AddressFault)
  /// No block is for the flash.
  case noData
}

extension UF2Fault: CustomStringConvertible {
  public var description: String {
    switch self {
    case .cutOff(let size): "UF2: \(size) bytes are not a multiple of 512; the file is truncated"
    case .blocksMissing(let found, let count):
      "UF2: only \(found) of \(count) blocks are present; the file is truncated"
    case .wrongMagic(let block): "UF2 block \(block): the magic numbers are missing"
    case .payloadTooLong(let block, let size):
      "UF2 block \(block): \(size) bytes of payload; the maximum is 476"
    case .outOfOrder(let block, let number, let count):
      "UF2 block \(block): it states that it is number \(number) of \(count)"
    case .fileContainer(let block):
      "UF2 block \(block): it contains files, not the content of a flash"
    case .secondFamily(let family, let block):
      "UF2 block \(block): it is for \(family?.description ?? "any chip"), unlike earlier blocks"
    case .addressTooHigh(let block, let address):
      "UF2 block \(block): 0x\(address.hexadecimal) is too close to the end of the address space"
    case .overlap(let block, let other, let address):
      "UF2 block \(block): address 0x\(address.hexadecimal) again, after block \(other)"
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
