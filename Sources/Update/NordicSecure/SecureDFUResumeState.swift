import OtaflashFirmware

/// What a bootloader holds of an init packet, from its answer to select (command).
enum SecureDFUInitStanding: Equatable, Sendable {
  /// Nothing of it: an object is created.
  case absent
  /// Its beginning: the rest is sent.
  case partial(Int)
  /// All of it, executed or not.
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

/// Where a bootloader stands in an image, from its answer to select (data).
enum SecureDFUResumeState: Equatable, Sendable {
  /// At the beginning of an object, or in one that cannot be gone on with: it is created.
  case before(Int)
  /// What it holds is not the image: the object that begins here is created, and the bootloader
  /// asked whether it went back there.
  case differing(from: Int)
  /// In the middle of an object: the rest of it is sent.
  case inside(Int)
  /// An object has ended here. Whether it was executed is not told.
  case behind(Int)

  /// Bytes of the image that need not be sent, as far as is known yet.
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
    // On a boundary it is the object before that is in doubt.
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
