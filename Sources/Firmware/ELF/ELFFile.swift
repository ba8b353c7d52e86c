/// The loadable segments of an ELF program as one stretch of memory, at their physical addresses:
/// where the initial values of variables lie in flash, not where they are copied to (System V ABI,
/// chapters 4 and 5).
public struct ELFFile: Equatable, Sendable {
  static let magic: [UInt8] = [0x7F, 0x45, 0x4C, 0x46]
  /// More segments than any firmware has.
  static let segmentMaximum = 64
  private static let executable: UInt16 = 2
  private static let sharedObject: UInt16 = 3
  private static let load: UInt32 = 1

  /// The image: the segments at their physical addresses, and fill between.
  public let bytes: [UInt8]
  /// Where the image lies.
  public let layout: AddressLayout

  /// Reads a little-endian program of 32 or 64 bits.
  /// - Parameters:
  ///   - file: the whole file.
  ///   - spanLimit: the largest number of bytes between lowest and highest address.
  ///   - region: the part of the file that is wanted; `nil` for all but known regions.
  public init(
    decoding file: [UInt8], spanLimit: Int, region: AddressRegion? = nil
  ) throws(ELFFault) {
    let header = try Header(decoding: file)
    // As objcopy fills: the CRC32 of the image is that of the build's binary.
    var memory = AddressedMemory(fill: 0)
    for number in 0..<header.count {
      let segment = try header.segment(number, in: file)
      guard segment.type == Self.load, segment.fileSize > 0 else { continue }
      if segment.offset < header.size {
        // lld maps the file's own headers into a segment of their own unless told not to.
        guard segment.fileSize <= header.end - segment.offset else {
          throw .segmentHoldsHeader(segment: number)
        }
        continue
      }
      try Self.add(segment, of: file, to: &memory, number: number)
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

  private static func add(
    _ segment: Segment, of file: [UInt8], to memory: inout AddressedMemory, number: Int
  ) throws(ELFFault) {
    // The sum can overflow, the difference cannot.
    guard segment.offset <= UInt64(file.count),
      segment.fileSize <= UInt64(file.count) - segment.offset
    else {
      throw .segmentBeyondEnd(segment: number, offset: segment.offset, size: segment.fileSize)
    }
    let addresses = UInt64(UInt32.max) + 1
    guard segment.address < addresses, segment.fileSize <= addresses - segment.address,
      let address = UInt32(exactly: segment.address)
    else { throw .addressTooHigh(segment: number, address: segment.address) }
    let start = Int(segment.offset)
    memory.append(file[start..<(start + Int(segment.fileSize))], at: address, origin: number)
  }
}

extension ELFFile {
  /// One program header.
  private struct Segment {
    let type: UInt32
    let offset: UInt64
    let address: UInt64
    let fileSize: UInt64
  }

  /// What is needed of the ELF header.
  private struct Header {
    let entry: UInt64
    let count: Int
    /// Of the ELF header itself.
    var size: UInt64 { is64Bit ? 64 : 52 }
    /// The offset of the first octet behind the header and the program headers that follow it.
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

    private static func address(_ file: [UInt8], at index: Int, _ is64Bit: Bool) -> UInt64? {
      is64Bit
        ? file.littleEndian(UInt64.self, at: index)
        : file.littleEndian(UInt32.self, at: index).map(UInt64.init)
    }
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
