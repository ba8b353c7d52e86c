import OtaflashFirmware

/// The part of an init packet that a bootloader holds, from its response to select (command).
enum SecureDFUInitStanding: Equatable, Sendable {
  /// Nothing: an object is created.
  case absent
  /// Its start: the rest is sent.
  case partial(Int)
  /// The complete init packet, executed or not.
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
  /// At the start of an object, or in one that cannot be continued: the object is created.
  case before(Int)
  /// The held bytes differ from the image: the object that starts here is created, and the progress
  /// is read again to check that the bootloader went back.
  case differing(from: Int)
  /// In the middle of an object: the rest of it is sent.
  case inside(Int)
  /// At the end of an object. Whether it was executed is unknown.
  case behind(Int)

  /// Bytes of the image that need not be sent, as far as known.
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
