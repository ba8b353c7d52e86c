import OtaflashFirmware

/// Chooses the delivery of an image with the shortest predicted time. Among deliveries with about
/// equal times, it chooses the delivery with the fewest bytes on the air.
package struct DeliveryPlanner {
  /// A reset costs at most one part, so the largest part is limited to a size that takes two
  /// seconds with common flash.
  private static let partMaximum = 65536
  /// An image is divided into up to `usualParts` parts of about this size or more, so that a reset
  /// costs only one of these parts.
  private static let usualPart = 32768
  private static let usualParts = 4
  /// The smaller part sizes to try, rounded up to pages.
  private static let smallParts = [16384, 4096]
  /// Smaller parts are tried while resets cost more than this share of the time.
  private static let resetShare = 0.01
  /// The ratio of times up to which two deliveries count as equally fast.
  private static let noticeable = 1.02

  /// The key of a stream among the streams of the same image, base and decoder.
  package struct Recipe: Hashable, Sendable {
    let hasBase: Bool
    let partSize: Int
  }

  private let image: [UInt8]
  private let abilities: DecoderAbilities
  private let conditions: DeliveryConditions
  /// The expected content of the slot before the update. If the device keeps pages, its equal pages
  /// cost no flash time.
  package var slot: [UInt8] = []
  /// Returns a stored stream, or composes the stream. A composed stream may be stored unless it is
  /// `.plain`.
  package var remembering: (Recipe, _ compose: () -> Delivery) -> Delivery = { $1() }
  /// Whether the result is no longer needed. In this case every stream is replaced by the image
  /// itself, so that the search ends quickly.
  package var isCancelled: () -> Bool = { false }

  package init(image: [UInt8], abilities: DecoderAbilities, conditions: DeliveryConditions) {
    precondition(!image.isEmpty, "there is nothing to deliver")
    self.image = image
    self.abilities = abilities
    self.conditions = conditions
  }

  /// The best delivery, with or without a base. If the difference from the base is smaller than a
  /// quarter of the image, compression without a base is not tried.
  package func best(base: [UInt8]?) -> Delivery {
    if let base, !base.isEmpty {
      let difference = composed(against: Base(base))
      if difference.bytes.count < image.count / 4 { return Self.best(of: [plain, difference]) }
      return Self.best(of: [plain, composed(against: Base([])), difference])
    }
    return Self.best(of: candidates(base: nil))
  }

  /// The delivery with the fewest bytes among those that are about as fast as the fastest.
  package static func best(of candidates: [Delivery]) -> Delivery {
    precondition(!candidates.isEmpty, "an image can always be sent unchanged")
    let fastest = candidates.map(\.forecast.expectedSeconds).min() ?? 0
    let fast = candidates.filter { $0.forecast.expectedSeconds <= fastest * noticeable }
    return fast.min { $0.bytes.count < $1.bytes.count } ?? candidates[0]
  }

  /// The deliveries to compare: the image itself, the compressed image, and the difference from a
  /// base, each in parts of the best size. Every stream was applied and verified.
  package func candidates(base: [UInt8]?) -> [Delivery] {
    var deliveries = [plain, composed(against: Base([]))]
    if let base, !base.isEmpty { deliveries.append(composed(against: Base(base))) }
    return deliveries
  }

  /// The unchanged image. A device marks each write block after it is written, so a reset costs at
  /// most a page.
  package var plain: Delivery {
    let page = conditions.pageSize
    let pages = (image.count + page - 1) / page
    let bytesAtPages = (1...pages).map { min($0 * page, image.count) }
    return Delivery(
      content: .plain, bytes: image, codecs: [], partSize: image.count,
      bytesAtPages: bytesAtPages, partEnds: Array(1...pages), unchanged: unchanged,
      under: conditions)
  }

  /// For each page of the image, whether the slot holds it already.
  private var unchanged: [Bool] {
    let page = abilities.pageSize
    return stride(from: 0, to: image.count, by: page).map { start in
      let end = min(start + page, image.count)
      return end <= slot.count && image[start..<end] == slot[start..<end]
    }
  }

  /// The image itself, and streams with and without a base in parts of every size, for comparison
  /// under any conditions (`Delivery.predicted(under:)`).
  package func deliveries(base: PatchBase) -> [Delivery] {
    [plain] + streams(against: Base([])) + streams(against: Base(base))
  }

  /// Returns streams against one base, in parts of every size from the largest down. The list ends
  /// with the first stream that `isEnough` accepts.
  private func streams(
    against base: Base, until isEnough: (Delivery) -> Bool = { _ in false }
  ) -> [Delivery] {
    var streams: [Delivery] = []
    for size in partSizes {
      let next = stream(against: base, partSize: size, like: streams.first)
      streams.append(next)
      if isEnough(next) { break }
    }
    return streams
  }

  /// - Parameter whole: the stream in the largest parts, whose codecs also suit smaller parts;
  ///   `nil` while this stream itself is created.
  private func stream(against base: Base, partSize: Int, like whole: Delivery?) -> Delivery {
    let recipe = Recipe(hasBase: !base.bytes.isEmpty, partSize: partSize)
    let codecs = whole.map(codecsOfParts) ?? abilities.codecs
    return remembering(recipe) {
      composed(against: base.sorted, partSize: partSize, codecs: codecs)
    }.predicted(under: conditions)
  }

  /// A stream against one base, in the part size with the shortest predicted time.
  package func composed(against base: PatchBase) -> Delivery { composed(against: Base(base)) }

  private func composed(against base: Base) -> Delivery {
    let whole = stream(against: base, partSize: partSizes[0], like: nil)
    var best = whole
    for size in partSizes.dropFirst() {
      let forecast = best.forecast
      if forecast.resetSeconds <= Self.resetShare * forecast.seconds { break }
      let next = stream(against: base, partSize: size, like: whole)
      if next.forecast.expectedSeconds < forecast.expectedSeconds { best = next }
    }
    return best
  }

  /// Recreates the stream of which a device holds a part: the stream with this size and this CRC32
  /// among all streams that could have been the best. Returns `nil` if no stream matches.
  package func again(size: Int, crc32: UInt32, base: [UInt8]?) -> Delivery? {
    func isIt(_ delivery: Delivery) -> Bool {
      delivery.bytes.count == size && CRC32.checksum(delivery.bytes) == crc32
    }
    for base in [base ?? [], []].suffix(base?.isEmpty ?? true ? 1 : 2) {
      let made = streams(against: Base(base), until: isIt)
      if let last = made.last, isIt(last) { return last }
    }
    return nil
  }

  /// The part sizes to try in descending order: complete pages, without duplicates. A small image
  /// is one part; the parts of a large image have about equal sizes.
  private var partSizes: [Int] {
    let page = abilities.pageSize
    let fewest = (image.count + Self.partMaximum - 1) / Self.partMaximum
    let count = max(fewest, min(Self.usualParts, image.count / Self.usualPart))
    let largest = (image.count + count - 1) / count
    return ([largest] + Self.smallParts).map { min(($0 + page - 1) / page * page, image.count) }
      .reduce(into: []) { sizes, size in if size < sizes.last ?? .max { sizes.append(size) } }
  }

  /// Returns the codecs to try for small parts: the codec parameters that are best for large parts
  /// also suit small parts.
  private func codecsOfParts(of whole: Delivery) -> [PatchCodec] {
    abilities.codecs.filter { $0 == .crle || $0 == .range || whole.codecs.contains($0) }
  }

  /// A stream in parts of one size, each compressed by the codec that yields the smallest patch.
  /// The stream was applied and verified.
  package func composed(
    against base: PatchBase, partSize: Int, codecs: [PatchCodec]
  ) -> Delivery {
    precondition(
      partSize >= image.count || partSize % abilities.pageSize == 0, "parts end with pages")
    var bytes: [UInt8] = []
    var used: [PatchCodec] = []
    var crc = CRC32()
    for start in stride(from: 0, to: image.count, by: partSize) {
      if isCancelled() { return plain }
      let part = image[start..<min(start + partSize, image.count)]
      let patch = Patch.smallest(from: base, to: part, codecs: codecs)
      crc.update(part)
      let header = PartHeader(
        imageOffset: UInt32(start), imageBytes: UInt32(part.count),
        patchBytes: UInt32(patch.bytes.count), crc32: crc.value)
      bytes += header.encoded + patch.bytes
      if !used.contains(patch.codec) { used.append(patch.codec) }
    }
    let bytesAtPages = applied(bytes, base)
    let pagesInPart = (partSize + abilities.pageSize - 1) / abilities.pageSize
    let pages = bytesAtPages.count
    return Delivery(
      content: base.bytes.isEmpty ? .compressed : .difference, bytes: bytes, codecs: used,
      partSize: min(partSize, image.count), bytesAtPages: bytesAtPages,
      partEnds: Array(stride(from: pagesInPart, to: pages, by: pagesInPart)) + [pages],
      unchanged: unchanged, under: conditions)
  }

  /// The stream of a prebuilt patch, which consists of one part.
  ///
  /// - Parameters:
  ///   - patch: the patch from a file, without any header.
  ///   - base: the base image; if only its size is known, zeros of this size.
  ///   - isBaseKnown: whether the patch must create the image from `base`.
  /// - Throws: the reason why the patch does not create the image from this base.
  package func ready(
    _ patch: [UInt8], base: [UInt8], isBaseKnown: Bool
  ) throws(PatchFault) -> Delivery {
    let made = try applied(patch, base: base, isBaseKnown: isBaseKnown)
    let (wanted, found) = (CRC32.checksum(image), CRC32.checksum(made.image))
    guard made.image.count == image.count else {
      throw PatchFault(.imageSize(stated: made.image.count, limit: image.count), at: 0)
    }
    guard !isBaseKnown || made.image == image else {
      throw PatchFault(.checksum(stated: wanted, found: found), at: patch.count - 1)
    }
    let header = PartHeader(
      imageOffset: 0, imageBytes: UInt32(image.count), patchBytes: UInt32(patch.count),
      crc32: wanted)
    return Delivery(
      content: .difference, bytes: header.encoded + patch, codecs: [made.codec],
      partSize: image.count, bytesAtPages: made.bytesAtPages.map { $0 + PartHeader.size },
      partEnds: [made.bytesAtPages.count], under: conditions)
  }

  /// Applies a prebuilt patch. Without its base, a patch of format 2 cannot be decoded: its bytes
  /// are then distributed evenly over the pages.
  private func applied(
    _ patch: [UInt8], base: [UInt8], isBaseKnown: Bool
  ) throws(PatchFault) -> PatchReader.Result {
    let reader = try PatchReader(PatchInput(patch[...]), base: base, limit: image.count)
    guard reader.codec.isMapped, !isBaseKnown else {
      return try PatchReader.apply(
        patch[...], to: base, limit: image.count, pageSize: abilities.pageSize)
    }
    guard reader.statedSize == image.count else {
      throw PatchFault(.imageSize(stated: reader.statedSize, limit: image.count), at: 0)
    }
    let pages = (image.count + abilities.pageSize - 1) / abilities.pageSize
    return PatchReader.Result(
      image: image, codec: reader.codec, bytesAtPages: (1...pages).map { patch.count * $0 / pages })
  }

  /// Applies a stream as the device does. Returns the number of stream bytes up to the end of each
  /// page.
  private func applied(_ bytes: [UInt8], _ base: PatchBase) -> [Int] {
    let result: PatchReader.Result
    do throws(PatchFault) {
      result = try PatchParts.apply(
        bytes, to: base.bytes, imageSize: image.count, pageSize: abilities.pageSize)
    } catch {
      preconditionFailure("a created stream cannot be applied: \(error)")
    }
    precondition(result.image == image, "a created stream yields another image")
    return result.bytesAtPages
  }
}

/// A base whose suffixes are sorted on first use.
private final class Base {
  let bytes: [UInt8]
  private(set) lazy var sorted = PatchBase(bytes)

  init(_ bytes: [UInt8]) { self.bytes = bytes }

  init(_ base: PatchBase) {
    bytes = base.bytes
    sorted = base
  }
}
