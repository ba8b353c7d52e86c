/// The first 32 bytes of an MCUboot image (MCUboot design, `struct image_header`); all numbers
/// are little-endian.
public struct MCUbootHeader: Equatable, Sendable {
  /// The properties of the image for the bootloader (`IMAGE_F_…`).
  public struct Flags: OptionSet, Hashable, Sendable {
    public let rawValue: UInt32

    public init(rawValue: UInt32) { self.rawValue = rawValue }

    /// `IMAGE_F_PIC`: runs at any address.
    public static let positionIndependent = Flags(rawValue: 0x1)
    /// `IMAGE_F_ENCRYPTED_AES128`.
    public static let encryptedAES128 = Flags(rawValue: 0x4)
    /// `IMAGE_F_ENCRYPTED_AES256`.
    public static let encryptedAES256 = Flags(rawValue: 0x8)
    /// `IMAGE_F_NON_BOOTABLE`: not to be started as a program.
    public static let nonBootable = Flags(rawValue: 0x10)
    /// `IMAGE_F_RAM_LOAD`: copied to its load address before it runs.
    public static let ramLoad = Flags(rawValue: 0x20)
    /// `IMAGE_F_ROM_FIXED`: only runs at its load address.
    public static let romFixed = Flags(rawValue: 0x100)
    /// `IMAGE_F_COMPRESSED_LZMA1`.
    public static let compressedLZMA1 = Flags(rawValue: 0x200)
    /// `IMAGE_F_COMPRESSED_LZMA2`.
    public static let compressedLZMA2 = Flags(rawValue: 0x400)
    /// `IMAGE_F_COMPRESSED_ARM_THUMB_FLT`: filtered for ARM Thumb before it was compressed.
    public static let compressedARMThumb = Flags(rawValue: 0x800)

    static let names: [(Flags, String)] = [
      (.positionIndependent, "position independent"), (.encryptedAES128, "encrypted with AES-128"),
      (.encryptedAES256, "encrypted with AES-256"), (.nonBootable, "not bootable"),
      (.ramLoad, "runs from RAM"), (.romFixed, "for one fixed address"),
      (.compressedLZMA1, "compressed with LZMA1"), (.compressedLZMA2, "compressed with LZMA2"),
      (.compressedARMThumb, "compressed through the ARM Thumb filter"),
    ]

    /// The names of all set flags; the unknown flags together are one number.
    public var words: [String] {
      let known = Self.names.filter { contains($0.0) }
      let rest = subtracting(Flags(known.map(\.0)))
      return known.map(\.1) + (rest.isEmpty ? [] : ["0x\(rest.rawValue.hexadecimal)"])
    }
  }

  /// The size in bytes of the header that is decoded; a build may use a longer header.
  package static let size = 32
  static let magic: UInt32 = 0x96F3_B83D
  /// The magic of the format before MCUboot 1.0.
  package static let oldMagic: UInt32 = 0x96F3_B83C

  /// The address at which the image runs: its address in RAM or, with the flag `romFixed`, in
  /// flash; otherwise 0.
  public let loadAddress: UInt32
  /// The number of bytes from the start of the file to the body, 32…65535.
  public let headerSize: UInt16
  /// The size of the protected TLV area in bytes; 0 if absent.
  package let protectedSize: UInt16
  /// The size of the body in bytes.
  public let bodySize: UInt32
  /// The properties of the image for the bootloader.
  public let flags: Flags
  /// The version passed to imgtool.
  public let version: MCUbootVersion

  /// Returns whether the bytes start with the magic of an MCUboot image, or of the format before
  /// MCUboot 1.0.
  static func begins(_ bytes: some Collection<UInt8>) -> Bool {
    let magic: UInt32? = Array(bytes.prefix(4)).littleEndian(at: 0)
    return magic == Self.magic || magic == oldMagic
  }

  /// Decodes the header at the start of a file.
  init(decoding bytes: [UInt8]) throws(MCUbootFault) {
    guard bytes.count >= Self.size, let magic = bytes.littleEndian(UInt32.self, at: 0),
      let loadAddress = bytes.littleEndian(UInt32.self, at: 4),
      let headerSize = bytes.littleEndian(UInt16.self, at: 8),
      let protectedSize = bytes.littleEndian(UInt16.self, at: 10),
      let bodySize = bytes.littleEndian(UInt32.self, at: 12),
      let flags = bytes.littleEndian(UInt32.self, at: 16),
      let version = MCUbootVersion(decoding: bytes[20..<28])
    else { throw .headerCutOff(found: bytes.count) }
    guard magic != Self.oldMagic else { throw .oldFormat }
    guard magic == Self.magic else { throw .wrongMagic(magic) }
    guard headerSize >= Self.size else { throw .headerTooShort(stated: headerSize) }
    self.loadAddress = loadAddress
    self.headerSize = headerSize
    self.protectedSize = protectedSize
    self.bodySize = bodySize
    self.flags = Flags(rawValue: flags)
    self.version = version
  }
}

extension MCUbootVersion {
  /// Decodes the 8 bytes of `struct image_version`.
  init?(decoding bytes: ArraySlice<UInt8>) {
    let start = bytes.startIndex
    guard bytes.count == 8, let revision = bytes.littleEndian(UInt16.self, at: start + 2),
      let build = bytes.littleEndian(UInt32.self, at: start + 4)
    else { return nil }
    self.init(bytes[start], bytes[start + 1], revision, build: build)
  }
}
