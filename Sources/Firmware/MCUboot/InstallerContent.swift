/// The content of an installer of Nordic's bare-metal SDK. The installer is an application that
/// runs once: it copies a SoftDevice and a firmware loader to their addresses, clears its own
/// header and restarts. The firmware loader then waits for an application (nRF Connect SDK Bare
/// Metal, `applications/installer`, `scripts/generate_metadata.py`).
public struct InstallerContent: Equatable, Sendable {
  /// The kind of a part.
  public enum Kind: Hashable, Sendable {
    /// Nordic's Bluetooth stack.
    case softDevice
    /// The program that receives an application over the air.
    case firmwareLoader
    /// Another image, by its number in the table.
    case other(UInt8)

    init(_ number: UInt8) {
      switch number {
      case 1: self = .softDevice
      case 2: self = .firmwareLoader
      default: self = .other(number)
      }
    }
  }

  /// An image to copy.
  public struct Part: Equatable, Sendable {
    /// The kind of the image.
    public let kind: Kind
    /// The destination address in the device's flash.
    public let address: UInt32
    /// The size in bytes.
    public let size: Int
    /// The hash, if the part is an MCUboot image; `nil` for other bytes.
    public let hash: MCUbootImage.Hash?
  }

  /// The magic before the table. The body contains the installer's program, the table and the data,
  /// in this order.
  private static let magic: [UInt8] = [0x92, 0x11, 0xF2, 0xE9]
  private static let entrySize = 24
  /// The maximum number of parts; the SDK has two, a SoftDevice and a firmware loader.
  private static let partsMaximum = 4

  /// The parts in the order of the table; at least one.
  public let parts: [Part]

  /// - Parameter body: the body of the image, without its header. Returns `nil` if the body
  ///   contains no table with a correct CRC32, or if the CRC32 of a part is wrong.
  init?(in body: ArraySlice<UInt8>) {
    let body = Array(body)
    for start in body.indices where body[start] == Self.magic[0] {
      guard body[start...].starts(with: Self.magic), let parts = Self.parts(in: body, at: start)
      else { continue }
      self.parts = parts
      return
    }
    return nil
  }

  private static func parts(in body: [UInt8], at start: Int) -> [Part]? {
    for count in 1...partsMaximum {
      let end = start + magic.count + count * entrySize
      guard let checksum: UInt32 = body.littleEndian(at: end) else { return nil }
      guard checksum == CRC32.checksum(body[start..<end]) else { continue }
      let data = body[(end + 4)...]
      let parts = (0..<count).compactMap {
        part(in: body, at: start + magic.count + $0 * entrySize, data: data)
      }
      return parts.count == count ? parts : nil
    }
    return nil
  }

  /// Decodes an entry: address, size of the space, offset, size and CRC32 of the data, kind, fill.
  private static func part(in body: [UInt8], at entry: Int, data: ArraySlice<UInt8>) -> Part? {
    let words = (0..<5).compactMap { body.littleEndian(UInt32.self, at: entry + 4 * $0) }
    let (offset, size) = (Int(words[2]), Int(words[3]))
    guard offset + size <= data.count else { return nil }
    let bytes = Array(data.dropFirst(offset).prefix(size))
    guard CRC32.checksum(bytes) == words[4] else { return nil }
    return Part(
      kind: Kind(body[entry + 20]), address: words[0], size: size, hash: hash(of: bytes))
  }

  private static func hash(of bytes: [UInt8]) -> MCUbootImage.Hash? {
    do throws(MCUbootFault) { return try MCUbootImage(decoding: bytes).hash } catch { return nil }
  }

  /// The firmware loader in the installer; `nil` if it contains none.
  public var firmwareLoader: Part? { parts.first { $0.kind == .firmwareLoader } }
}
