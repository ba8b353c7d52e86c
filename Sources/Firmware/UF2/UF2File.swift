/// A UF2 file as one memory range (UF2 specification, Microsoft): blocks of 512 bytes, each with an
/// address and up to 476 bytes for that address.
package struct UF2File: AddressedFile, Equatable, Sendable {
  static let blockSize = 512
  static let payloadMaximum = 476
  static let magic: [UInt8] = Array("UF2\n".utf8)
  private static let secondMagic: UInt32 = 0x9E5D_5157
  private static let endMagic: UInt32 = 0x0AB1_6F30

  struct Flags: OptionSet {
    let rawValue: UInt32

    /// A comment or other data that is not for the flash.
    static let notMainFlash = Flags(rawValue: 0x0000_0001)
    static let fileContainer = Flags(rawValue: 0x0000_1000)
    static let familyPresent = Flags(rawValue: 0x0000_2000)
    static let extensionsPresent = Flags(rawValue: 0x0000_8000)
  }

  /// The image: the blocks at their addresses, and 0xFF in gaps.
  package let bytes: [UInt8]
  /// The addresses of the image.
  package let layout: AddressLayout
  /// The kind of chip; `nil` if the file does not state it.
  package let family: UF2Family?

  /// Decodes a complete file, which must be for one kind of chip and contain all blocks in order.
  /// - Parameters:
  ///   - file: the complete file.
  ///   - spanLimit: the maximum number of bytes from the lowest to the highest address.
  ///   - region: the part of the file to use; `nil` for all data except known regions.
  package init(
    decoding file: [UInt8], spanLimit: Int, region: AddressRegion? = nil
  ) throws(UF2Fault) {
    guard file.count.isMultiple(of: Self.blockSize), !file.isEmpty else {
      throw .cutOff(size: file.count)
    }
    let total = file.count / Self.blockSize
    var count = total
    var memory = AddressedMemory()
    var family: UF2Family??
    for number in 0..<total {
      let start = number * Self.blockSize
      let block = try UF2Block(decoding: file[start..<(start + Self.blockSize)], number: number)
      if number == 0, block.isForErratumE10 {
        count -= 1
        continue
      }
      guard block.number == UInt32(number - (total - count)), block.count == UInt32(count) else {
        throw Self.misplaced(block, at: number, of: count, in: file)
      }
      guard !block.flags.contains(.fileContainer) else { throw .fileContainer(block: number) }
      if block.flags.contains(.notMainFlash) { continue }
      if let family, family != block.family { throw .secondFamily(block.family, block: number) }
      family = .some(block.family)
      try Self.add(block, to: &memory, number: number)
    }
    guard !memory.isEmpty else { throw .noData }
    do throws(AddressedMemory.Fault) {
      (bytes, layout) = try memory.image(
        start: nil, in: AddressedMemory.Window(spanLimit: spanLimit, region: region))
    } catch {
      throw UF2Fault(error)
    }
    self.family = family ?? nil
  }

  /// Returns the fault of a block whose number or count of blocks does not match its position.
  private static func misplaced(
    _ block: UF2Block, at number: Int, of count: Int, in file: [UInt8]
  ) -> UF2Fault {
    let fault = UF2Fault.outOfOrder(block: number, number: block.number, count: block.count)
    guard block.number == 0, block.count > 0 else { return fault }
    if block.count > UInt32(count) { return .blocksMissing(found: count, count: block.count) }
    // A second file may follow the first; its blocks are numbered from 0 again.
    let next = number + Int(block.count)
    let start = next * blockSize
    guard start + blockSize <= file.count else { return fault }
    do throws(UF2Fault) {
      let other = try UF2Block(decoding: file[start..<(start + blockSize)], number: next)
      return other.family == block.family ? fault : .secondFamily(other.family, block: next)
    } catch {
      return error
    }
  }

  private static func add(
    _ block: UF2Block, to memory: inout AddressedMemory, number: Int
  ) throws(UF2Fault) {
    guard Int(block.address) + block.payload.count <= Int(UInt32.max) + 1 else {
      throw .addressTooHigh(block: number, address: block.address)
    }
    memory.append(block.payload, at: block.address, origin: number)
  }

  /// The fields of one block.
  private struct UF2Block {
    let flags: Flags
    let address: UInt32
    let number: UInt32
    let count: UInt32
    let family: UF2Family?
    let payload: ArraySlice<UInt8>
    /// The first word after the payload; `nil` if the block has no extension tags.
    let firstExtension: UInt32?

    /// Whether this is the block that picotool and the Pico SDK 2 write first, with a separate
    /// number, so that an RP2350 accepts the file (erratum RP2350-E10). The block is not flashed.
    var isForErratumE10: Bool {
      family == .absolute && number == 0 && count == 2 && firstExtension == Self.ignoredBlock
    }

    /// `UF2_EXTENSION_RP2_IGNORE_BLOCK` (pico-sdk, boot/uf2.h).
    private static let ignoredBlock: UInt32 = 0x9957_E304

    init(decoding bytes: ArraySlice<UInt8>, number: Int) throws(UF2Fault) {
      let start = bytes.startIndex
      func word(_ index: Int) throws(UF2Fault) -> UInt32 {
        guard let word = bytes.littleEndian(UInt32.self, at: start + 4 * index) else {
          throw .wrongMagic(block: number)
        }
        return word
      }
      guard bytes.starts(with: UF2File.magic), try word(1) == UF2File.secondMagic,
        try word(127) == UF2File.endMagic
      else { throw .wrongMagic(block: number) }
      flags = Flags(rawValue: try word(2))
      address = try word(3)
      let size = try word(4)
      guard size <= UInt32(UF2File.payloadMaximum) else {
        throw .payloadTooLong(block: number, size: size)
      }
      self.number = try word(5)
      count = try word(6)
      family = flags.contains(.familyPresent) ? UF2Family(rawValue: try word(7)) : nil
      let end = start + 32 + Int(size)
      payload = bytes[(start + 32)..<end]
      firstExtension =
        flags.contains(.extensionsPresent) ? bytes.littleEndian(at: end) : nil
    }
  }
}

extension UF2Fault {
  fileprivate init(_ fault: AddressedMemory.Fault) {
    switch fault {
    case .overlap(let address, let first, let second):
      self = .overlap(block: second, other: first, address: address)
    case .addresses(let fault): self = .addresses(fault)
    }
  }
}
