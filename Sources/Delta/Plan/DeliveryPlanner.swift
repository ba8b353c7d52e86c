import OtaflashFirmware

/// Chooses how an image is delivered: by the time that is predicted, and among what takes about as
/// long by the octets on the air.
package struct DeliveryPlanner {
  /// Parts of so many octets are tried, rounded up to pages. A part is what a reset costs at most,
  /// so the largest takes two seconds of a usual flash.
  private static let partSizes = [65536, 16384, 4096]
  /// Smaller parts are tried while resets cost more than this share of the time.
  private static let resetShare = 0.01
  /// What takes less than this factor longer is as fast.
  private static let noticeable = 1.02

  private let image: [UInt8]
  private let abilities: DecoderAbilities
  private let conditions: DeliveryConditions

  package init(image: [UInt8], abilities: DecoderAbilities, conditions: DeliveryConditions) {
    precondition(!image.isEmpty, "there is nothing to deliver")
    self.image = image
    self.abilities = abilities
    self.conditions = conditions
  }

  /// The best way, with a base or without. What a small difference to a base leaves is not
  /// compressed besides: a whole image never becomes that small.
  package func best(base: [UInt8]?) -> Delivery {
    if let base, !base.isEmpty {
      let difference = composed(against: PatchBase(base))
      if difference.octets.count < image.count / 4 { return Self.best(of: [plain, difference]) }
      return Self.best(of: [plain, composed(against: PatchBase([])), difference])
    }
    return Self.best(of: candidates(base: nil))
  }

  /// Of what takes no longer than the fastest, as far as anybody would notice, the shortest.
  package static func best(of candidates: [Delivery]) -> Delivery {
    precondition(!candidates.isEmpty, "an image can always be sent as it is")
    let fastest = candidates.map(\.forecast.expectedSeconds).min() ?? 0
    let fast = candidates.filter { $0.forecast.expectedSeconds <= fastest * noticeable }
    return fast.min { $0.octets.count < $1.octets.count } ?? candidates[0]
  }

  /// The image itself, compressed, and as a difference to a base: each in the best parts. Every
  /// stream was applied, and made the image.
  package func candidates(base: [UInt8]?) -> [Delivery] {
    var deliveries = [plain, composed(against: PatchBase([]))]
    if let base, !base.isEmpty { deliveries.append(composed(against: PatchBase(base))) }
    return deliveries
  }

  /// The image, octet by octet. A device marks each row that it has written, so that a reset costs
  /// no more than a page.
  package var plain: Delivery {
    let page = conditions.pageSize
    let pages = (image.count + page - 1) / page
    let octetsAtPages = (1...pages).map { min($0 * page, image.count) }
    return Delivery(
      content: .plain, octets: image, codecs: [], partSize: image.count,
      octetsAtPages: octetsAtPages, partEnds: Array(1...pages), under: conditions)
  }

  /// The image itself, and streams with a base and without in parts of every size, so that they
  /// can be compared under any conditions (`Delivery.predicted(under:)`).
  package func deliveries(base: PatchBase) -> [Delivery] {
    [plain] + streams(against: PatchBase([])) + streams(against: base)
  }

  /// Streams against one base in parts of every size.
  private func streams(against base: PatchBase) -> [Delivery] {
    let largest = composed(against: base, partSize: partSizes[0], codecs: abilities.codecs)
    let codecs = codecsOfParts(of: largest)
    return [largest]
      + partSizes.dropFirst().map { composed(against: base, partSize: $0, codecs: codecs) }
  }

  /// A stream against one base, in the parts for which the predicted time is least.
  package func composed(against base: PatchBase) -> Delivery {
    var best = composed(against: base, partSize: partSizes[0], codecs: abilities.codecs)
    let codecs = codecsOfParts(of: best)
    for size in partSizes.dropFirst() {
      let forecast = best.forecast
      if forecast.resetSeconds <= Self.resetShare * forecast.seconds { break }
      let next = composed(against: base, partSize: size, codecs: codecs)
      if next.forecast.expectedSeconds < forecast.expectedSeconds { best = next }
    }
    return best
  }

  /// The stream of which a device holds a part, made again: of all that could have been the best,
  /// the one of this size and this CRC32.
  package func again(size: Int, crc32: UInt32, base: [UInt8]?) -> Delivery? {
    func isIt(_ delivery: Delivery) -> Bool {
      delivery.octets.count == size && CRC32.checksum(delivery.octets) == crc32
    }
    let bases = [base ?? [], []].map(PatchBase.init)
    for base in bases.suffix(base?.isEmpty ?? true ? 1 : 2) {
      if let found = streams(against: base).first(where: isIt) { return found }
    }
    return nil
  }

  /// The sizes of parts to try, the largest first: whole pages, each once; a small image is one.
  private var partSizes: [Int] {
    let page = abilities.pageSize
    return Self.partSizes.map { min(($0 + page - 1) / page * page, image.count) }
      .reduce(into: []) { sizes, size in if size < sizes.last ?? .max { sizes.append(size) } }
  }

  /// The parameters that are best for large parts are as good for small ones.
  private func codecsOfParts(of whole: Delivery) -> [PatchCodec] {
    abilities.codecs.filter { $0 == .crle || whole.codecs.contains($0) }
  }

  /// A stream in parts of one size, each with the codec that makes it smallest; applied and
  /// compared.
  package func composed(
    against base: PatchBase, partSize: Int, codecs: [PatchCodec]
  ) -> Delivery {
    precondition(
      partSize >= image.count || partSize % abilities.pageSize == 0, "parts end with pages")
    var octets: [UInt8] = []
    var used: [PatchCodec] = []
    var crc = CRC32()
    for start in stride(from: 0, to: image.count, by: partSize) {
      let part = image[start..<min(start + partSize, image.count)]
      let patch = Patch.smallest(from: base, to: part, codecs: codecs)
      crc.update(part)
      let header = PartHeader(
        imageOffset: UInt32(start), imageOctets: UInt32(part.count),
        patchOctets: UInt32(patch.octets.count), crc32: crc.value)
      octets += header.encoded + patch.octets
      if !used.contains(patch.codec) { used.append(patch.codec) }
    }
    let octetsAtPages = applied(octets, base)
    let pagesInPart = (partSize + abilities.pageSize - 1) / abilities.pageSize
    let pages = octetsAtPages.count
    return Delivery(
      content: base.bytes.isEmpty ? .compressed : .difference, octets: octets, codecs: used,
      partSize: min(partSize, image.count), octetsAtPages: octetsAtPages,
      partEnds: Array(stride(from: pagesInPart, to: pages, by: pagesInPart)) + [pages],
      under: conditions)
  }

  /// Applies a stream as the device will: for each page, the octets that it takes to make it.
  private func applied(_ octets: [UInt8], _ base: PatchBase) -> [Int] {
    let result: PatchReader.Result
    do throws(PatchFault) {
      result = try PatchParts.apply(
        octets, to: base.bytes, imageSize: image.count, pageSize: abilities.pageSize)
    } catch {
      preconditionFailure("a stream of ours cannot be applied: \(error)")
    }
    precondition(result.image == image, "a stream of ours makes another image")
    return result.octetsAtPages
  }
}
