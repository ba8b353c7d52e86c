import OTAReceiver
import OtaflashTestSupport
import Testing

@testable import OtaflashDelta

/// Tests that the decoder of the device and the reader of the host accept the same patches.
@Suite struct DeviceTests {
  static let page = 256

  /// The result of the device for a stream in pieces of this size; `nil` = rejected.
  private func device(_ stream: [UInt8], base: [UInt8], imageSize: Int, piece: Int) -> [UInt8]? {
    var host = (base: base, image: [UInt8]())
    return withUnsafeMutablePointer(to: &host) { host -> [UInt8]? in
      var config = ota_delta_config(
        context: host,
        base_read: { context, offset, to, size in
          let host = context?.assumingMemoryBound(to: (base: [UInt8], image: [UInt8]).self)
          guard let host, let to, Int(offset + size) <= host.pointee.base.count else {
            return false
          }
          for i in 0..<Int(size) { to[i] = host.pointee.base[Int(offset) + i] }
          return true
        },
        write: { context, bytes, size in
          let host = context?.assumingMemoryBound(to: (base: [UInt8], image: [UInt8]).self)
          guard let host else { return 0 }
          host.pointee.image += UnsafeBufferPointer(start: bytes, count: Int(size))
          return size
        }, page_size: UInt32(Self.page))
      var sizes = ota_delta_sizes(
        base_size: UInt32(base.count), image_size: UInt32(imageSize),
        stream_size: UInt32(stream.count))
      var point = ota_delta_point()
      var delta = ota_delta()
      guard ota_delta_start(&delta, &config, &sizes, &point) else { return nil }
      var at = 0
      while true {
        let given = min(piece, stream.count - at)
        var used: UInt32 = 0
        let result = stream.withUnsafeBufferPointer {
          ota_delta_run(&delta, $0.baseAddress.map { $0 + at }, UInt32(given), &used)
        }
        at += Int(used)
        switch result {
        case OTA_DELTA_DONE: return host.pointee.image
        case OTA_DELTA_MORE where at == stream.count: return nil
        case OTA_DELTA_MORE, OTA_DELTA_AGAIN, OTA_DELTA_PART: continue
        default: return nil
        }
      }
    }
  }

  private func host(_ stream: [UInt8], base: [UInt8], imageSize: Int) -> [UInt8]? {
    do throws(PatchFault) {
      return try PatchParts.apply(stream, to: base, imageSize: imageSize, pageSize: Self.page).image
    } catch {
      return nil
    }
  }

  /// The offsets of heatshrink's parameters, which are limited only in the device. Without
  /// references in the stream, they have no effect.
  private static func parameters(of stream: [UInt8]) -> Set<Int> {
    var offsets: Set<Int> = []
    var at = 0
    while at < stream.count {
      var place = at + PartHeader.size
      let isHeatshrink = stream[place] & 15 == 4
      repeat { place += 1 } while stream[place] & 0x80 != 0
      if isHeatshrink { offsets.insert(place + 1) }
      at += PartHeader.size + Int(stream[at + 8]) + Int(stream[at + 9]) << 8
    }
    return offsets
  }

  @Test(arguments: 1...10)
  func deviceAndHostAgreeOnImagesAndFaults(_ seed: UInt64) {
    var random = SplitMix64(seed: seed)
    let size = Int.random(in: 0..<600, using: &random)
    let base = seed % 2 == 0 ? random.bytes(size, kinds: 30) : random.code(size)
    let image = random.edited(base, pieces: 3)
    let planner = DeliveryPlanner(
      image: image,
      abilities: DecoderAbilities(
        hasCRLE: true, largestWindow: 10, largestLookahead: 10, pageSize: Self.page),
      conditions: DeliveryConditions(bytesPerSecond: 1000, pageSize: Self.page))
    for size in [Self.page, 2 * Self.page, image.count] {
      for codec in PatchTests.codecs + MappedTests.codecs {
        var stream = planner.composed(
          against: PatchBase(base), partSize: size, codecs: [codec]
        ).bytes
        let made = device(stream, base: base, imageSize: image.count, piece: Int(seed) * 7)
        #expect(made == image)
        let parameters = Self.parameters(of: stream)
        for _ in 0..<10 {
          let bit = Int.random(in: 0..<8 * stream.count, using: &random)
          if parameters.contains(bit / 8) { continue }
          stream[bit / 8] ^= 1 << UInt8(bit % 8)
          let made = device(stream, base: base, imageSize: image.count, piece: 61)
          #expect(made == nil || made == image)
          #expect(host(stream, base: base, imageSize: image.count) == made, "bit \(bit)")
          stream[bit / 8] ^= 1 << UInt8(bit % 8)
        }
      }
    }
  }
}
