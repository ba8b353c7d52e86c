import Crypto
import OtaflashUpdate

/// Uploads: command 1 of the image group.
extension SMPServer {
  private var pageSize: Int { parts.profile.layout.pageSize }

  /// Octets of the largest file: the last page of a slot belongs to the boot loader.
  var imageMaximum: Int { parts.profile.slotSize - pageSize }

  mutating func take(_ part: SMPImage.Upload) throws(SMPServerRefusal) -> Work {
    if part.offset == 0 { return try begin(part) }
    guard var upload, part.offset == upload.offset else {
      // Another octet is wanted: what came is thrown away.
      return Work(answer: .body(accepted(upload?.offset ?? 0, of: upload?.size ?? 0)))
    }
    guard upload.offset + part.data.count <= upload.size else { throw .image(.overrun) }
    let operations = upload.take(part.data, parts.profile.geometry)
    return go(on: upload, after: operations)
  }

  private mutating func begin(_ part: SMPImage.Upload) throws(SMPServerRefusal) -> Work {
    guard let announcement = part.announcement else { throw .image(.invalidLength) }
    let sha = announcement.sha ?? []
    guard sha.count <= 32 else { throw .image(.invalidHash) }
    guard part.data.count >= BootableImage.headerOctets else { throw .image(.headerTooShort) }
    guard let header = BootableImage.Header(decoding: part.data) else { throw .image(.wrongMagic) }
    let target = try target(of: announcement)
    if let upload, !sha.isEmpty, upload.sha == sha, upload.size == announcement.size,
      upload.place == target
    {
      return Work(answer: .body(accepted(upload.offset, of: upload.size)))
    }
    try judge(announcement, header, for: target)
    if settings.checksImages, sha.count == 32, holds(sha, size: announcement.size, in: target) {
      upload = nil
      return Work(
        answer: .body(
          SMPImage.Upload.Response(offset: announcement.size, matches: true).body))
    }
    guard part.data.count <= announcement.size else { throw .image(.overrun) }
    var upload = SMPUpload(
      size: announcement.size, sha: sha, place: target, address: address(of: target),
      erased: settings.erasesProgressively ? 0 : parts.profile.slotSize)
    let erases = settings.erasesProgressively ? [] : erasing(target)
    let operations = erases + upload.take(part.data, parts.profile.geometry)
    return go(on: upload, after: operations)
  }

  /// The slot that an upload goes to.
  private func target(
    of announcement: SMPImage.Upload.Announcement
  ) throws(SMPServerRefusal) -> SlotPlace {
    let image = announcement.image ?? 0
    guard images.indices.contains(image) else { throw .image(.noFreeSlot) }
    return isRecovery ? active(image) : inactive(image)
  }

  private func judge(
    _ announcement: SMPImage.Upload.Announcement, _ header: BootableImage.Header,
    for target: SlotPlace
  ) throws(SMPServerRefusal) {
    guard !isInUse(target) else { throw .image(.noFreeSlot) }
    guard announcement.size <= imageMaximum else { throw .image(.tooLarge) }
    if let address = header.romAddress, address != self.address(of: target) {
      throw .image(.wrongAddress)
    }
    if announcement.isUpgradeOnly == true, let running = image(in: active(target.image)),
      running.version >= header.version
    {
      throw .image(.runningIsNewer)
    }
  }

  /// Keeps the upload and answers when flash is done.
  private mutating func go(on upload: SMPUpload, after operations: [FlashOperation]) -> Work {
    if upload.isWhole {
      self.upload = nil
      return Work(operations: operations, answer: .uploadEnd(upload))
    }
    self.upload = upload
    return Work(
      operations: operations, answer: .body(accepted(upload.offset, of: upload.size)))
  }

  /// The last answer of an upload: whether what lies in flash is what was announced.
  mutating func end(of upload: SMPUpload) -> CBORMap {
    let matches =
      settings.checksImages && upload.sha.count == 32
      ? holds(upload.sha, size: upload.size, in: upload.place) : nil
    return SMPImage.Upload.Response(
      offset: lies.altered(offset: upload.size, of: upload.size), matches: matches
    ).body
  }

  private mutating func accepted(_ offset: Int, of size: Int) -> CBORMap {
    SMPImage.Upload.Response(offset: lies.altered(offset: offset, of: size)).body
  }

  private func holds(_ sha: [UInt8], size: Int, in place: SlotPlace) -> Bool {
    guard let bytes = slot(place), size <= bytes.count else { return false }
    return Array(SHA256.hash(data: bytes.prefix(size))) == sha
  }

  // MARK: Erasing

  mutating func erase(_ request: SMPImage.Erase) throws(SMPServerRefusal) -> Work {
    guard let place = place(ofSlot: request.slot ?? 1) else { throw .image(.invalidSlot) }
    guard !isInUse(place) else { throw .image(.noFreeSlot) }
    upload = nil
    return Work(operations: erasing(place), answer: .body(SMPDone().body))
  }

  private func erasing(_ place: SlotPlace) -> [FlashOperation] {
    let start = address(of: place)
    return stride(from: start, to: start + parts.profile.slotSize, by: pageSize).map {
      .erase(page: $0)
    }
  }

  /// Whether a slot holds what runs, what shall run next, or what is to come back.
  private func isInUse(_ place: SlotPlace) -> Bool {
    if place == active(place.image) { return !isRecovery }
    let record = images[place.image].record
    return record.isPending || record.isOnTrial || settings.mode.needsRecovery
  }
}
