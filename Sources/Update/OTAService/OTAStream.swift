import OtaflashDelta
import OtaflashFirmware

/// A stream that replaces an image.
struct OTAStream: Sendable {
  let image: ContentIdentity
  let base: OTABase
  let delivery: Delivery
  let bytes: PrefixChecksums
  /// The number of image bytes per page of the device's decoder.
  private let pageSize: Int

  init(_ delivery: Delivery, of image: ContentIdentity, against base: OTABase, pageSize: Int) {
    self.image = image
    self.base = base
    self.delivery = delivery
    self.pageSize = pageSize
    bytes = PrefixChecksums(delivery.bytes)
  }

  var announcement: OTAPatch {
    OTAPatch(
      base: base, streamSize: bytes.count, streamCRC32: bytes.checksum(ofFirst: bytes.count))
  }

  /// Returns the number of image bytes that a device can create from the first `count` bytes: exact
  /// for complete pages, proportional for the current page. An update always reports progress in
  /// bytes of the image.
  func imageBytes(ofFirst count: Int) -> Int {
    if count >= bytes.count { return image.size }
    let pages = delivery.bytesAtPages
    let whole = wholePages(ofFirst: count)
    // The last bytes of a stream create no image bytes.
    guard whole < pages.count else { return image.size - 1 }
    let began = whole == 0 ? 0 : pages[whole - 1]
    let made = whole * pageSize
    let page = min(pageSize, image.size - made)
    return made + page * (count - began) / (pages[whole] - began)
  }

  /// Returns the number of image bytes that a device certainly has when it holds the first `count`
  /// bytes. Only complete pages count: the end and the start of a part create no image bytes, and a
  /// device that restarts inside a page loses the page. Updates report this number after an
  /// interruption.
  func imageBytesHeld(ofFirst count: Int) -> Int {
    if count >= bytes.count { return image.size }
    return min(wholePages(ofFirst: count) * pageSize, image.size - 1)
  }

  private func wholePages(ofFirst count: Int) -> Int {
    let pages = delivery.bytesAtPages
    var (low, high) = (0, pages.count)
    while low < high {
      let middle = (low + high) / 2
      if pages[middle] <= count { low = middle + 1 } else { high = middle }
    }
    return low
  }
}

/// The last content for this device in the current update.
enum OTASent: Sendable {
  /// The image itself, with the reason why no stream is sent, and the reason why a given patch is
  /// not used.
  case image(PatchObstacle?, unused: PatchObstacle?)
  case stream(OTASentStream)
}

/// A stream, with the reasons for its selection.
struct OTASentStream: Sendable {
  let stream: OTAStream
  /// The reason why the stream is not a patch.
  let obstacle: PatchObstacle?
  /// The reason why the stream is not the given patch.
  let unused: PatchObstacle?
}

/// The device's report about patches on this connection.
struct OTAPatching: Sendable {
  let info: OTAPatchInfo
  let point: OTAPatchPoint
  /// Whether RUNNING identifies an image, even if the image cannot be read.
  let namesRunning: Bool
  /// The time from a request to its answer.
  let roundTrip: Duration

  /// The abilities of the device's decoder; `nil` = the device supports no stream that this host
  /// creates.
  var abilities: DecoderAbilities? {
    let hasCRLE = info.codecs & 1 << 2 != 0
    let window = info.codecs & 1 << 4 != 0 ? info.windowBits : 0
    guard info.takesParts, info.pageSize > 0 else { return nil }
    var abilities = DecoderAbilities(
      hasCRLE: hasCRLE, largestWindow: window, largestLookahead: info.lookaheadBits,
      hasMap: info.takesMap, hasRangeCoder: info.takesMap && info.codecs & 1 << 8 != 0,
      pageSize: info.pageSize)
    abilities.takesUncompressed = info.codecs & 1 != 0
    // Patches without compression are as large as the image.
    return abilities.codecs == [.none] ? nil : abilities
  }

  /// The running image; `nil` if the device reports no base.
  var running: ContentIdentity? { ContentIdentity(info.base) }

  /// The reason why the device reports no base. PATCH INFO contains the values of RUNNING, unless
  /// the running image cannot be read or is damaged (docs/ota-service.md, 13).
  var absence: PatchObstacle { namesRunning ? .baseUnreadable : .baseNotTold }

  /// The stream of which the device holds a part; `nil` if it holds no part of a stream.
  var begun: ContentIdentity? {
    point.streamSize > 0
      ? ContentIdentity(size: point.streamSize, crc32: point.streamCRC32) : nil
  }
}

extension ContentIdentity {
  /// Creates the identity of a base; `nil` for a size of 0.
  init?(_ base: OTABase) {
    guard base.size > 0 else { return nil }
    self.init(size: base.size, crc32: base.crc32)
  }
}
