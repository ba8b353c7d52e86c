import OtaflashFirmware

/// The image in a slot, as the bootloader and the OTA service describe it.
public struct SlotImage: Hashable, Sendable {
  /// The size in bytes; 0 = empty.
  public var size: UInt32 = 0
  /// The CRC32 of the image.
  public var crc32: UInt32 = 0
  /// The announced version.
  public var version = FirmwareVersion(0, 0, 0)
  /// The hardware id of the image.
  public var hardware = HardwareID(0)
}

/// The persistent state of the bootloader: the running slot and the next slot. The flash contains
/// two records; the record with the higher sequence number is valid.
struct BootRecord: Hashable, Sendable {
  static let encodedSize = 48
  private static let magic: UInt32 = 0x3152_424F

  var sequence: UInt32 = 1
  /// The running slot, 0 or 1.
  var active = 0
  /// Whether the other slot runs after the next reset.
  var isPending = false
  /// Whether the pending image runs without confirmation.
  var isPermanent = false
  /// Whether the pending image will not be started, because the application's image was already
  /// pending when this image was marked.
  var isSkipped = false
  /// Whether the next reset reverts to the other slot.
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
    let body = words.flatMap(\.littleEndianBytes)
    return body + CRC32.checksum(body).littleEndianBytes
  }

  /// Returns `nil` if the bytes are not a complete record.
  init?(decoding bytes: [UInt8]) {
    guard bytes.count == Self.encodedSize else { return nil }
    let words = stride(from: 0, to: bytes.count, by: 4).map(bytes.littleEndianWord(at:))
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

  /// Marks the image to run after the next reset.
  ///
  /// - Parameter inPlace: whether the image replaced the previous image in its slot.
  mutating func markPending(_ image: SlotImage, inPlace: Bool = false) {
    if inPlace {
      images[active] = image
    } else {
      images[inactive] = image
      isPending = true
    }
  }

  /// Creates the record of a board with its factory image.
  init(factoryImage: SlotImage) { images[0] = factoryImage }
}

extension SlotImage {
  /// Describes an image by its image descriptor (docs/image-descriptor.md); an image without a
  /// valid descriptor has version 0.0.0 and hardware id 0.
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
  /// The version as `ota_version` of the receiver in C returns it (`ota_receiver.h`).
  var word: UInt32 { UInt32(major) << 24 | UInt32(minor) << 16 | UInt32(patch) }

  init(word: UInt32) {
    self.init(
      UInt8(word >> 24), UInt8(truncatingIfNeeded: word >> 16), UInt16(truncatingIfNeeded: word))
  }
}
