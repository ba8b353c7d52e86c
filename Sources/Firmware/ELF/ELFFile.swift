/// The loadable segments of an ELF program as one memory range. The range uses physical addresses,
/// at which the initial values of variables are in flash, not in RAM (System V ABI, chapters 4 and
/// 5).
package struct ELFFile: AddressedFile, Equatable, Sendable {
  static let magic: [UInt8] = [0x7F, 0x45, 0x4C, 0x46]
  /// The maximum number of segments; no firmware has more.
  static let segmentMaximum = 64
  private static let executable: UInt16 = 2
  private static let sharedObject: UInt16 = 3
  private static let load: UInt32 = 1

  /// The image: the segments at their physical addresses, and fill in gaps.
  package let bytes: [UInt8]
  /// The addresses of the image.
  package let layout: AddressLayout

  /// Decodes a little-endian program of 32 or 64 bits.
  /// - Parameters:
  ///   - file: the complete file.
  ///   - spanLimit: the maximum number of bytes from the lowest to the highest address.
  ///   - region: the part of the file to use; `nil` for all data except known regions.
  package init(
    decoding file: [UInt8], spanLimit: Int, region: AddressRegion? = nil
  ) throws(ELFFault) {
    let header = try Header(decoding: file)
    // The fill value of objcopy, so that the CRC32 of the image equals the CRC32 of the binary
    // which the build creates.
    var memory = AddressedMemory(fill: 0)
    for number in 0..<header.count {
      let segment = try header.segment(number, in: file)
      guard segment.type == Self.load, segment.fileSize > 0 else { continue }
      try segment.checkPlace(in: file, number: number)
      guard segment.offset < header.size else {
        memory.append(segment, of: file, number: number)
        continue
      }
      // By default, lld maps the file's own headers into the first segment, followed by the space
      // of omitted headers or by firmware.
      guard segment.fileSize > header.end - segment.offset else { continue }
      for part in try header.sections(of: segment, number: number, in: file) {
        memory.append(part, of: file, number: number)
      }
    }
    guard !memory.isEmpty else { throw .noData }
    do throws(AddressedMemory.Fault) {
      (bytes, layout) = try memory.image(
        start: UInt32(exactly: header.entry).map(AddressLayout.Start.linear),
        in: AddressedMemory.Window(spanLimit: spanLimit, region: region))
    } catch {
      throw ELFFault(error)
    }
  }
}

extension ELFFile {
  /// One program header, or a part of its segment.
  fileprivate struct Segment {
    let type: UInt32
    let offset: UInt64
    let address: UInt64
    let fileSize: UInt64

    /// Checks that the segment is completely in the file and at 32-bit addresses.
    func checkPlace(in file: [UInt8], number: Int) throws(ELFFault) {
      // The difference cannot overflow, but the sum can.
      guard offset <= UInt64(file.count), fileSize <= UInt64(file.count) - offset else {
        throw .segmentBeyondEnd(segment: number, offset: offset, size: fileSize)
      }
      let addresses = UInt64(UInt32.max) + 1
      guard address < addresses, fileSize <= addresses - address else {
        throw .addressTooHigh(segment: number, address: address)
      }
    }
  }

  /// The relevant fields of the ELF header.
  private struct Header {
    let entry: UInt64
    let count: Int
    private static let emptySection: UInt32 = 0
    /// Sections without bytes in the file, such as .bss (SHT_NOBITS).
    private static let sectionWithoutBits: UInt32 = 8
    /// Sections in memory while the program runs (SHF_ALLOC).
    private static let allocated: UInt64 = 2

    /// The size of the ELF header itself.
    var size: UInt64 { is64Bit ? 64 : 52 }
    /// The offset of the first byte after the header and after the program headers that directly
    /// follow it.
    let end: UInt64
    private let is64Bit: Bool
    private let start: Int
    private let entrySize: Int

    init(decoding file: [UInt8]) throws(ELFFault) {
      guard file.count >= 52 else { throw .headerCutOff(found: file.count) }
      switch file[4] {
      case 1: is64Bit = false
      case 2: is64Bit = true
      default: throw .unknownClass(file[4])
      }
      guard file[5] == 1 else { throw .bigEndian }
      guard let type = file.littleEndian(UInt16.self, at: 16),
        let entry = Self.address(file, at: 24, is64Bit),
        let headers = Self.address(file, at: is64Bit ? 32 : 28, is64Bit),
        let size = file.littleEndian(UInt16.self, at: is64Bit ? 54 : 42),
        let count = file.littleEndian(UInt16.self, at: is64Bit ? 56 : 44)
      else { throw .headerCutOff(found: file.count) }
      guard type == ELFFile.executable || type == ELFFile.sharedObject else {
        throw .notExecutable(type: type)
      }
      guard count <= ELFFile.segmentMaximum else {
        throw .tooManySegments(count: Int(count), limit: ELFFile.segmentMaximum)
      }
      let bytes = UInt64(count) * UInt64(size)
      guard size >= (is64Bit ? 56 : 32), headers <= UInt64(file.count),
        bytes <= UInt64(file.count) - headers
      else { throw .programHeadersOutOfPlace(offset: headers, count: Int(count), size: size) }
      self.entry = entry
      let ownSize: UInt64 = is64Bit ? 64 : 52
      self.end = headers == ownSize ? headers + bytes : ownSize
      self.count = Int(count)
      self.start = Int(headers)
      self.entrySize = Int(size)
    }

    func segment(_ number: Int, in file: [UInt8]) throws(ELFFault) -> Segment {
      let at = start + number * entrySize
      guard let type = file.littleEndian(UInt32.self, at: at),
        let offset = Self.address(file, at: at + (is64Bit ? 8 : 4), is64Bit),
        let address = Self.address(file, at: at + (is64Bit ? 24 : 12), is64Bit),
        let fileSize = Self.address(file, at: at + (is64Bit ? 32 : 16), is64Bit)
      else {
        throw .programHeadersOutOfPlace(
          offset: UInt64(start), count: count, size: UInt16(clamping: entrySize))
      }
      return Segment(type: type, offset: offset, address: address, fileSize: fileSize)
    }

    /// Returns the parts of a segment that sections cover. In a segment that also contains the
    /// file's own headers, these parts are the firmware.
    func sections(
      of segment: Segment, number: Int, in file: [UInt8]
    ) throws(ELFFault) -> [Segment] {
      var parts: [Segment] = []
      guard let start = Self.address(file, at: is64Bit ? 40 : 32, is64Bit),
        let size = file.littleEndian(UInt16.self, at: is64Bit ? 58 : 46),
        let count = file.littleEndian(UInt16.self, at: is64Bit ? 60 : 48), count > 0,
        size >= (is64Bit ? 64 : 40), start <= UInt64(file.count),
        UInt64(count) * UInt64(size) <= UInt64(file.count) - start
      else { throw .segmentHoldsHeader(segment: number) }
      for section in 0..<Int(count) {
        let at = Int(start) + section * Int(size)
        guard let type = file.littleEndian(UInt32.self, at: at + 4),
          let flags = Self.address(file, at: at + 8, is64Bit),
          let offset = Self.address(file, at: at + (is64Bit ? 24 : 16), is64Bit),
          let length = Self.address(file, at: at + (is64Bit ? 32 : 20), is64Bit)
        else { throw .segmentHoldsHeader(segment: number) }
        guard type != Self.emptySection, type != Self.sectionWithoutBits,
          flags & Self.allocated != 0, length > 0, offset >= segment.offset,
          offset - segment.offset < segment.fileSize
        else { continue }
        let distance = offset - segment.offset
        guard offset >= end, length <= segment.fileSize - distance else {
          throw .segmentHoldsHeader(segment: number)
        }
        parts.append(
          Segment(
            type: segment.type, offset: offset, address: segment.address + distance,
            fileSize: length))
      }
      return parts
    }

    private static func address(_ file: [UInt8], at index: Int, _ is64Bit: Bool) -> UInt64? {
      is64Bit
        ? file.littleEndian(UInt64.self, at: index)
        : file.littleEndian(UInt32.self, at: index).map(UInt64.init)
    }
  }
}

extension AddressedMemory {
  /// - Precondition: the caller has checked the position of the segment.
  fileprivate mutating func append(_ segment: ELFFile.Segment, of file: [UInt8], number: Int) {
    let start = Int(segment.offset)
    append(
      file[start..<(start + Int(segment.fileSize))],
      at: UInt32(truncatingIfNeeded: segment.address), origin: number)
  }
}

extension ELFFault {
  fileprivate init(_ fault: AddressedMemory.Fault) {
    switch fault {
    case .overlap(let address, let first, let second):
      self = .overlap(segment: second, other: first, address: address)
    case .addresses(let fault): self = .addresses(fault)
    }
  }
}
