import OtaflashFirmware

/// What a slot holds, as the bootloader and the OTA service name it.
public struct SlotImage: Hashable, Sendable {
  /// In bytes; 0 = nothing.
  public var size: UInt32 = 0
  /// Of the image's bytes.
  public var crc32: UInt32 = 0
  /// The version that it was announced with.
  public var version = FirmwareVersion(0, 0, 0)
  /// The hardware that it is for.
  public var hardware = HardwareID(0)
}

/// The bootloader's memory: which slot runs, which is to run next. Two copies are kept, the one
/// with the higher sequence number counts.
struct BootRecord: Hashable, Sendable {
  static let encodedSize = 48
  private static let magic: UInt32 = 0x3152_424F

  var sequence: UInt32 = 1
  /// The slot that runs, 0 or 1.
  var active = 0
  /// The other slot shall run after the next reset.
  var isPending = false
  /// The pending image needs no confirmation.
  var isPermanent = false
  /// The pending image is not started: the mark of another image came before its own.
  var isSkipped = false
  /// The running image goes back to the other slot at the next reset.
  var isOnTrial = false
  var images = [SlotImage(), SlotImage()]

  var inactive: Int { 1 - active }

  var encoded: [UInt8] {
    var words: [UInt32] = [
      Self.magic, sequence,
      UInt32(active) | (isPending ? 2 : 0) | (isOnTrial ? 4 : 0)
        | (isPermanent ? 8 : 0) | (isSkipped ? 16 : 0),
    ]
    for image in images {
      words += [image.size, image.crc32, image.version.word, image.hardware.rawValue]
    }
    let body = words.flatMap(\.bytes)
    return body + CRC32.checksum(body).bytes
  }

  /// `nil` for anything but a whole record.
  init?(decoding bytes: [UInt8]) {
    guard bytes.count == Self.encodedSize else { return nil }
    let words = stride(from: 0, to: bytes.count, by: 4).map { start in
      (0..<4).reduce(UInt32(0)) { $0 | UInt32(bytes[start + $1]) << UInt32(8 * $1) }
    }
    guard words[0] == Self.magic, CRC32.checksum(bytes.dropLast(4)) == words[11] else { return nil }
    sequence = words[1]
    active = Int(words[2] & 1)
    isPending = words[2] & 2 != 0
    isOnTrial = words[2] & 4 != 0
    isPermanent = words[2] & 8 != 0
    isSkipped = words[2] & 16 != 0
    images = [3, 7].map {
      SlotImage(
        size: words[$0], crc32: words[$0 + 1], version: FirmwareVersion(word: words[$0 + 2]),
        hardware: HardwareID(words[$0 + 3]))
    }
  }

  /// The bootloader shall run this image next.
  ///
  /// - Parameter inPlace: the image lies over the one that ran before.
  mutating func markPending(_ image: SlotImage, inPlace: Bool = false) {
    if inPlace {
      images[active] = image
    } else {
      images[inactive] = image
      isPending = true
    }
  }

  /// The record of a board that leaves the factory.
  init(factoryImage: SlotImage) { images[0] = factoryImage }
}

extension SlotImage {
  /// What an image says of itself by its descriptor (docs/image-descriptor.md); one without, or
  /// with a damaged one, is version 0.0.0.
  init(describing bytes: [UInt8]) {
    var descriptor: ImageDescriptor?
    do throws(FirmwareFault) { descriptor = try ImageDescriptor.find(in: bytes) } catch {
      descriptor = nil
    }
    self.init(
      size: UInt32(bytes.count), crc32: CRC32.checksum(bytes),
      version: descriptor?.version ?? FirmwareVersion(0, 0, 0),
      hardware: descriptor?.hardware ?? HardwareID(0))
  }
}

extension FirmwareVersion {
  /// As `ota_version` in the receiver's header makes it.
  var word: UInt32 { UInt32(major) << 24 | UInt32(minor) << 16 | UInt32(patch) }

  init(word: UInt32) {
    self.init(
      UInt8(word >> 24), UInt8(truncatingIfNeeded: word >> 16), UInt16(truncatingIfNeeded: word))
  }
}

extension UInt32 {
  fileprivate var bytes: [UInt8] { (0..<4).map { UInt8(truncatingIfNeeded: self >> (8 * $0)) } }
}
