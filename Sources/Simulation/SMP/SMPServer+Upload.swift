import Crypto
import OtaflashWire

/// Uploads: command 1 of the image group.
extension SMPServer {
  private var pageSize: Int { parts.settings.layout.pageSize }

  /// The maximum size of a file in bytes: the last page of a slot belongs to the bootloader.
  var imageMaximum: Int { parts.settings.slotSize - pageSize }

  /// Handles an upload request. After an error a current server discards the upload; a server of
  /// 2021 keeps it.
  mutating func take(_ part: SMPImage.Upload) throws(SMPServerRefusal) -> Work {
    do throws(SMPServerRefusal) {
      return part.offset == 0 ? try begin(part) : try resume(with: part)
    } catch {
      if !is2021 { upload = nil }
      throw error
    }
  }

  private mutating func resume(with part: SMPImage.Upload) throws(SMPServerRefusal) -> Work {
    guard var upload, part.offset == upload.offset else {
      // The request does not have the expected offset: its data is discarded.
      return Work(answer: .body(accepted(upload?.offset ?? 0, of: upload?.size ?? 0)))
    }
    guard !upload.isBroken else { throw .general(.unknown) }
    let data = whole(part.data, of: upload)
    if is2021 {
      // The announced size does not limit the upload, only the size of the slot.
      guard upload.offset + data.count <= parts.settings.slotSize else { throw .general(.unknown) }
    } else {
      guard upload.offset + data.count <= upload.size else { throw .image(.overrun) }
    }
    let operations = upload.take(data, parts.flash.geometry)
    return go(on: upload, after: operations)
  }

  /// Handles a failed flash write. A server of 2021 keeps its offset, but writes no more data until
  /// the next start of an upload.
  mutating func writeFailed(before: SMPUpload?) {
    upload = is2021 ? before : nil
    upload?.isBroken = true
  }

  private mutating func begin(_ part: SMPImage.Upload) throws(SMPServerRefusal) -> Work {
    guard part.data.count >= BootableImage.headerBytes else { throw .image(.headerTooShort) }
    guard let announcement = part.announcement else { throw .image(.invalidLength) }
    guard let header = BootableImage.Header(decoding: part.data) else { throw .image(.wrongMagic) }
    let sha = announcement.sha ?? []
    guard sha.count <= 32 else { throw .image(.invalidHash) }
    // Neither the size nor the slot is compared.
    if let upload, !sha.isEmpty, upload.sha == sha {
      return Work(answer: .body(accepted(upload.offset, of: upload.size)))
    }
    let target = try target(of: announcement)
    try judge(announcement, header, for: target)
    if settings.comparesImages, sha.count == 32, holds(sha, size: announcement.size, in: target) {
      upload = nil
      return Work(
        answer: .body(
          SMPImage.Upload.Response(offset: announcement.size, matches: true).body))
    }
    guard is2021 || part.data.count <= announcement.size else { throw .image(.overrun) }
    if target == inactive(0) { hasTakenSlot = true }
    let erases = settings.erasesProgressively ? [] : erasing(target, for: announcement.size)
    var upload = SMPUpload(
      size: announcement.size, sha: sha, place: target, address: address(of: target),
      erased: settings.erasesProgressively ? 0 : erased(announcement.size, by: erases))
    let operations =
      erases + upload.take(whole(part.data, of: upload), parts.flash.geometry)
    return go(on: upload, after: operations)
  }

  /// Returns the data of a request that the server accepts: all data at the end of the image,
  /// otherwise only complete units.
  private func whole(_ data: [UInt8], of upload: SMPUpload) -> [UInt8] {
    guard upload.offset + data.count < upload.size else { return data }
    return Array(data.prefix(data.count / settings.unit * settings.unit))
  }

  /// Returns the slot that receives an upload.
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
    guard is2021 || announcement.size <= imageMaximum else { throw .image(.tooLarge) }
    if let address = header.romAddress, address != self.address(of: target) {
      throw .image(.wrongAddress)
    }
    if announcement.isUpgradeOnly == true, let running = image(in: active(target.image)),
      running.version >= header.version
    {
      throw .image(.runningIsNewer)
    }
  }

  /// Stores the state of an incomplete upload. Returns the flash operations and the answer that
  /// follows them.
  private mutating func go(on upload: SMPUpload, after operations: [FlashOperation]) -> Work {
    if upload.isWhole {
      self.upload = nil
      return Work(operations: operations, answer: .uploadEnd(upload))
    }
    self.upload = upload
    return Work(
      operations: operations, answer: .body(accepted(upload.offset, of: upload.size)))
  }

  /// Returns the last answer of an upload. A server that compares images also reports whether the
  /// content of flash matches the announced hash.
  mutating func end(of upload: SMPUpload) -> CBORMap {
    let matches =
      settings.comparesImages && upload.sha.count == 32
      ? holds(upload.sha, size: upload.size, in: upload.place) : nil
    return done(
      SMPImage.Upload.Response(
        offset: misbehavior.altered(offset: upload.size, of: upload.size), matches: matches
      ).body)
  }

  private mutating func accepted(_ offset: Int, of size: Int) -> CBORMap {
    done(SMPImage.Upload.Response(offset: misbehavior.altered(offset: offset, of: size)).body)
  }

  /// Returns the body of a successful answer; servers of 2021 report a success explicitly.
  private func done(_ body: CBORMap) -> CBORMap {
    guard is2021 else { return body }
    return CBORMap(pairs: [CBORMap.Pair(key: .text("rc"), value: .integer(0))] + body.pairs)
  }

  private func holds(_ sha: [UInt8], size: Int, in place: SlotPlace) -> Bool {
    guard let bytes = slot(place), size <= bytes.count else { return false }
    return Array(SHA256.hash(data: bytes.prefix(size))) == sha
  }

  // MARK: Erasing

  mutating func erase(_ request: SMPImage.Erase) throws(SMPServerRefusal) -> Work {
    let place = try placeToErase(request)
    // A server of 2021 keeps the state of its upload.
    if !is2021 { upload = nil }
    if place == inactive(0) { hasTakenSlot = true }
    return Work(
      operations: erasing(place, for: parts.settings.slotSize), answer: .body(done(CBORMap())))
  }

  private func placeToErase(_ request: SMPImage.Erase) throws(SMPServerRefusal) -> SlotPlace {
    guard is2021 else {
      guard let place = place(ofSlot: request.slot ?? 1) else { throw .image(.invalidSlot) }
      guard !isInUse(place) else { throw .image(.noFreeSlot) }
      return place
    }
    // A server of 2021 always erases the same slot, regardless of the request.
    let place = isRecovery ? active(0) : inactive(0)
    guard isInUse(place) else { return place }
    throw .general(image(in: place) == nil ? .noEntry : .badState)
  }

  /// Returns the erases of the pages for `bytes` and of the page with the bootloader's marks; empty
  /// for a blank slot.
  private func erasing(_ place: SlotPlace, for bytes: Int) -> [FlashOperation] {
    guard let content = slot(place), !content.allSatisfy({ $0 == 0xFF }) else { return [] }
    let start = address(of: place)
    let end = (min(bytes, imageMaximum) + pageSize - 1) / pageSize * pageSize
    let pages = Array(stride(from: start, to: start + end, by: pageSize)) + [start + imageMaximum]
    return pages.map { .erase(page: $0) }
  }

  /// Returns the number of blank bytes at the start of the slot after these erases.
  private func erased(_ bytes: Int, by erases: [FlashOperation]) -> Int {
    let pages = (bytes + pageSize - 1) / pageSize * pageSize
    return erases.isEmpty ? parts.settings.slotSize : pages
  }

  /// Returns whether uploads and erases of a slot are refused, because the slot contains the
  /// running image, the next image or the image to revert to, or because updates never use the
  /// slot.
  private func isInUse(_ place: SlotPlace) -> Bool {
    if place == active(place.image) { return !isRecovery }
    let record = images[place.image].record
    return record.isPending || record.isOnTrial || settings.mode.needsRecovery
  }
}
