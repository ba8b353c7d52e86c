import OtaflashDelta
import OtaflashFirmware

/// A stream that is sent instead of an image.
struct OTAStream: Sendable {
  let image: ContentIdentity
  let base: OTABase
  let delivery: Delivery
  let bytes: PrefixChecksums
  /// Bytes of image in a page, as the device's decoder counts.
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

  /// How much of the image a device can make of the first `count` bytes: whole pages exactly, and
  /// of the page that it is in as much as it has of the bytes for it. What an update says of its
  /// progress is in bytes of the image, whatever is sent.
  func imageBytes(ofFirst count: Int) -> Int {
    if count >= bytes.count { return image.size }
    let pages = delivery.bytesAtPages
    let whole = wholePages(ofFirst: count)
    // The last bytes of a stream make nothing more.
    guard whole < pages.count else { return image.size - 1 }
    let began = whole == 0 ? 0 : pages[whole - 1]
    let made = whole * pageSize
    let page = min(pageSize, image.size - made)
    return made + page * (count - began) / (pages[whole] - began)
  }

  /// How much of the image a device has for certain when it holds the first `count` bytes: whole
  /// pages. What a part ends or begins with makes nothing yet, and a device that has restarted in a
  /// page has lost it. So much is told where a transfer is taken up, or was broken off.
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

/// What was sent last to this device in the update that is under way.
enum OTASent: Sendable {
  /// The image itself, and why; and why not the patch that was given.
  case image(PatchObstacle?, unused: PatchObstacle?)
  case stream(OTASentStream)
}

/// A stream, and what is told of it.
struct OTASentStream: Sendable {
  let stream: OTAStream
  /// Why it is no patch.
  let obstacle: PatchObstacle?
  /// Why it is not the patch that was given.
  let unused: PatchObstacle?
}

/// What a device that takes patches has said of them on this connection.
struct OTAPatching: Sendable {
  let info: OTAPatchInfo
  let point: OTAPatchPoint
  /// RUNNING names an image, whether it can be read or not.
  let namesRunning: Bool
  /// What asking took: a request and its answer.
  let roundTrip: Duration

  /// `nil` = it can nothing that is made here.
  var abilities: DecoderAbilities? {
    let hasCRLE = info.codecs & 1 << 2 != 0
    let window = info.codecs & 1 << 4 != 0 ? info.windowBits : 0
    guard info.takesParts, info.pageSize > 0 else { return nil }
    var abilities = DecoderAbilities(
      hasCRLE: hasCRLE, largestWindow: window, largestLookahead: info.lookaheadBits,
      pageSize: info.pageSize)
    abilities.takesUncompressed = info.codecs & 1 != 0
    // Patches without compression are as large as the image.
    return abilities.codecs == [.none] ? nil : abilities
  }

  /// What runs; `nil` where it cannot be read.
  var running: ContentIdentity? { ContentIdentity(info.base) }

  /// Why there is nothing that patches could be made against, where there is nothing: PATCH INFO
  /// tells what RUNNING does, unless it cannot be read or is damaged (docs/ota-service.md, 13).
  var absence: PatchObstacle { namesRunning ? .baseUnreadable : .baseNotTold }

  /// The stream of which it holds a part.
  var begun: ContentIdentity? {
    point.streamSize > 0
      ? ContentIdentity(size: point.streamSize, crc32: point.streamCRC32) : nil
  }
}

extension ContentIdentity {
  /// `nil` for no bytes.
  init?(_ base: OTABase) {
    guard base.size > 0 else { return nil }
    self.init(size: base.size, crc32: base.crc32)
  }
}
