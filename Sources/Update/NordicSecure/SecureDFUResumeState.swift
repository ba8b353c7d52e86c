import OtaflashFirmware

/// The part of an init packet that a bootloader holds, from its response to select (command) or
/// checksum.
enum SecureDFUInitStanding: Equatable, Sendable {
  /// The bootloader holds nothing, or bytes that are not from this init packet, so the host creates
  /// an object.
  case absent
  /// The bootloader holds this number of bytes, so the host sends the rest.
  case partial(Int)
  /// The bootloader holds the complete init packet, executed or not.
  case whole

  init(_ progress: SecureDFUProgress, of initPacket: PrefixChecksums) {
    guard (1...initPacket.count).contains(progress.offset),
      initPacket.checksum(ofFirst: progress.offset) == progress.crc32
    else {
      self = .absent
      return
    }
    self = progress.offset == initPacket.count ? .whole : .partial(progress.offset)
  }
}

/// The progress of a bootloader in an image, from its response to select (data).
enum SecureDFUResumeState: Equatable, Sendable {
  /// The progress is at the start of an object, or in an object that cannot be continued. The host
  /// creates the object.
  case before(Int)
  /// The held bytes differ from the image. The host creates the object that starts at this offset,
  /// and reads the progress again to check that the bootloader went back.
  case differing(from: Int)
  /// The progress is in the middle of an object. The host sends the rest of the object.
  case inside(Int)
  /// The progress is at the end of an object, and it is unknown whether the object was executed.
  case behind(Int)

  /// The number of image bytes that need not be sent, as far as known.
  var offset: Int {
    switch self {
    case .before(let offset), .inside(let offset), .behind(let offset): offset
    case .differing: 0
    }
  }

  init(_ selection: SecureDFUSelection, of image: PrefixChecksums) {
    let offset = selection.progress.offset
    let objectSize = selection.sizeMaximum
    guard offset > 0 else {
      self = .before(0)
      return
    }
    // At a boundary, the state of the previous object is unknown.
    let objectStart = (offset - 1) / objectSize * objectSize
    guard offset <= image.count, image.checksum(ofFirst: offset) == selection.progress.crc32 else {
      self = .differing(from: offset <= image.count ? objectStart : 0)
      return
    }
    if offset == image.count || offset.isMultiple(of: objectSize) {
      self = .behind(offset)
    } else if offset.isMultiple(of: SecureDFUObjects.packetAlignment) {
      self = .inside(offset)
    } else {
      self = .before(objectStart)
    }
  }
}
