import OtaflashTestSupport
import Testing

@testable import OtaflashDelta

@Suite struct PlanTests {
  static let abilities = DecoderAbilities(
    hasCRLE: true, largestWindow: 10, largestLookahead: 10, pageSize: 4096)

  private func conditions(_ rate: Double, erasedAhead: Bool = true) -> DeliveryConditions {
    DeliveryConditions(bytesPerSecond: rate, isErasedAhead: erasedAhead)
  }

  /// Returns a base and a release, in which seven of every 40 bytes are random.
  private func release(_ count: Int = 60_000) -> (base: [UInt8], image: [UInt8]) {
    var random = SplitMix64(seed: 12)
    let base = random.bytes(count)
    let image = base.indices.map { i in
      i % 40 < 7 ? UInt8.random(in: 0...255, using: &random) : base[i]
    }
    return (base, image)
  }

  private func best(
    _ image: [UInt8], base: [UInt8]?, _ conditions: DeliveryConditions
  ) -> Delivery {
    DeliveryPlanner(image: image, abilities: Self.abilities, conditions: conditions).best(
      base: base)
  }

  @Test func theForecastEqualsASlowLink() {
    let forecast = conditions(1000).forecast(
      bytesAtPages: [4096, 8192], partEnds: [2], isDecoded: true)
    #expect(forecast.airSeconds == 8.192)
    #expect(forecast.seconds == 8.192 + 0.04)
    #expect(!forecast.isLimitedByFlash)
  }

  @Test func theForecastEqualsASlowFlash() {
    let forecast = conditions(100_000, erasedAhead: false).forecast(
      bytesAtPages: [100, 200, 300], partEnds: [3], isDecoded: true)
    #expect(forecast.isLimitedByFlash)
    #expect(abs(forecast.seconds - (3 * 0.125 + 0.001)) < 1e-9)
  }

  /// A processor that decodes slower than its flash writes limits the rate of a patch, but not the
  /// rate of the image itself.
  @Test func theForecastEqualsASlowDecoder() {
    var slow = conditions(1e9)
    slow.decodingRate = 70_000
    let pages = [100, 200, 300]
    let patch = slow.forecast(bytesAtPages: pages, partEnds: [3], isDecoded: true)
    #expect(abs(patch.seconds - 3 * (0.04 + 4096 / 70_000)) < 1e-6)
    let image = slow.forecast(bytesAtPages: pages, partEnds: [3], isDecoded: false)
    #expect(abs(image.seconds - 3 * 0.04) < 1e-6)
  }

  /// Pages that the slot already holds cost no flash time if the device keeps such pages.
  @Test func theForecastOmitsPagesThatDoNotChange() {
    var random = SplitMix64(seed: 5)
    var image = random.bytes(40_960)
    let slot = image
    image[5000] ^= 1
    var planner = DeliveryPlanner(
      image: image, abilities: Self.abilities, conditions: conditions(1e9, erasedAhead: false))
    planner.slot = slot
    let plain = planner.plain
    #expect(abs(plain.forecast.seconds - 10 * 0.125) < 1e-3)
    var keeping = conditions(1e9, erasedAhead: false)
    keeping.keepsPages = true
    #expect(abs(plain.predicted(under: keeping).forecast.seconds - 0.125) < 1e-3)
    #expect(planner.composed(against: PatchBase(slot)).unchanged.filter { $0 }.count == 9)
  }

  /// Data that arrives while a page is written must wait on the air, because the buffer is limited.
  @Test func theBufferLimitsTheLeadOfTheLink() {
    var slow = conditions(10_000, erasedAhead: true)
    slow.writeSeconds = 1
    slow.receiveBuffer = 100
    let small = slow.forecast(bytesAtPages: [10, 10_010], partEnds: [2], isDecoded: true).seconds
    slow.receiveBuffer = 20_000
    let large = slow.forecast(bytesAtPages: [10, 10_010], partEnds: [2], isDecoded: true).seconds
    #expect(large < small && large >= 2)
  }

  @Test(arguments: [6000.0, 20_000, 60_000])
  func aReleaseReachesTheLimitOfLinkAndFlash(_ rate: Double) {
    let (base, image) = release(120_000)
    let delivery = best(image, base: base, conditions(rate))
    #expect(delivery.content == .difference)
    let limit = max(delivery.forecast.airSeconds, delivery.forecast.flashSeconds)
    #expect(limit / delivery.forecast.seconds >= 0.95)
  }

  @Test func resetsJustifySmallParts() {
    let (base, image) = release()
    var often = conditions(500)
    often.secondsBetweenResets = 60
    let parts = best(image, base: base, often)
    #expect(parts.content == .difference && parts.partSize == 4096)
    var never = conditions(500)
    never.secondsBetweenResets = 1e9
    #expect(best(image, base: base, never).partSize == image.count)
  }

  @Test func aResetNeverCostsMoreThanALargePart() {
    let image = (0..<200_000).map { UInt8(($0 / 7) % 50) }
    var never = conditions(500)
    never.secondsBetweenResets = 1e9
    let delivery = best(image, base: nil, never)
    #expect(delivery.content == .compressed)
    #expect(delivery.partSize <= 65_536 && delivery.partCount == 4)
  }

  /// If the flash is the limit, all deliveries take the same time, and the shortest delivery is
  /// sent.
  @Test func theShortestOfEquallyFastDeliveriesIsUsed() {
    let (base, image) = release()
    let delivery = best(image, base: base, conditions(1e6, erasedAhead: false))
    #expect(delivery.content == .difference && delivery.forecast.isLimitedByFlash)
  }

  @Test func anIncompressibleImageIsSentUnchanged() {
    var random = SplitMix64(seed: 4)
    let image = random.bytes(20_000)
    let delivery = best(image, base: random.bytes(20_000), conditions(6000))
    #expect(delivery.content == .plain && delivery.bytes == image && delivery.codecs.isEmpty)
  }

  @Test func withoutABaseAnImageIsCompressed() throws {
    let image = (0..<30_000).map { UInt8(($0 / 7) % 50) }
    let delivery = best(image, base: nil, conditions(6000))
    #expect(delivery.content == .compressed && delivery.bytes.count < 3000)
    let made = try PatchParts.apply(
      delivery.bytes, to: [], imageSize: image.count, pageSize: 4096)
    #expect(made.image == image)
  }

  /// With existing streams, the planner chooses the same content as with streams that are composed
  /// for these conditions; the predicted time is at most 2 % longer.
  @Test(arguments: [(500.0, false), (500, true), (20_000, false), (1e6, true)])
  func aDeliveryIsPredictedUnderAnyConditions(_ rate: Double, _ ahead: Bool) {
    let (base, image) = release()
    let planner = DeliveryPlanner(
      image: image, abilities: Self.abilities, conditions: conditions(77))
    let deliveries = planner.deliveries(base: PatchBase(base))
    #expect(deliveries.map(\.partCount) == [1, 1, 4, 15, 1, 4, 15])
    let under = conditions(rate, erasedAhead: ahead)
    let one = DeliveryPlanner.best(of: deliveries.map { $0.predicted(under: under) })
    let other = best(image, base: base, under)
    #expect(one.content == other.content)
    #expect(one.forecast.expectedSeconds <= other.forecast.expectedSeconds * 1.02)
    let plain = DeliveryPlanner(image: image, abilities: Self.abilities, conditions: under).plain
    #expect(deliveries[0].predicted(under: under).forecast == plain.forecast)
  }

  /// Each part must use the codec that yields the smallest patch.
  @Test func partsMayDifferInTheirCodec() {
    var random = SplitMix64(seed: 6)
    let base = random.bytes(8192)
    let text = Array("the quick brown fox jumps over the lazy dog and does so again. ".utf8)
    let image = base + Array((0..<70).map { _ in text }.joined())
    let planner = DeliveryPlanner(
      image: image, abilities: Self.abilities, conditions: conditions(1000))
    let delivery = planner.composed(
      against: PatchBase(base), partSize: 8192, codecs: Self.abilities.codecs)
    #expect(delivery.codecs.count == 2 && delivery.codecs.first == .crle)
  }

  @Test func aLargerWindowNeverMakesALargerPatch() {
    var random = SplitMix64(seed: 21)
    for _ in 0..<4 {
      let base = random.bytes(3000, kinds: 20)
      let image = random.edited(base, pieces: 6)
      let sizes = (4...14).map { window in
        let abilities = DecoderAbilities(
          hasCRLE: false, largestWindow: window, largestLookahead: window, pageSize: 4096)
        return Patch.smallest(
          from: PatchBase(base), to: image[...], codecs: abilities.codecs
        ).bytes.count
      }
      #expect(sizes == sizes.sorted(by: >))
    }
  }

  @Test func onlySupportedCodecsAreTried() {
    let small = DecoderAbilities(
      hasCRLE: false, largestWindow: 8, largestLookahead: 6, pageSize: 4096)
    #expect(
      small.codecs.map(\.description) == [
        "heatshrink 4,3", "heatshrink 5,4", "heatshrink 6,5", "heatshrink 7,6", "heatshrink 8,4",
        "heatshrink 8,5", "heatshrink 8,6",
      ])
    let larger = DecoderAbilities(
      hasCRLE: false, largestWindow: 9, largestLookahead: 6, pageSize: 4096)
    #expect(Array(larger.codecs.prefix(small.codecs.count)) == small.codecs)
    let none = DecoderAbilities(
      hasCRLE: false, largestWindow: 0, largestLookahead: 0, pageSize: 4096)
    #expect(none.codecs == [.none])
  }

  @Test func encodedHeadersAreDecoded() throws {
    let header = PartHeader(
      imageOffset: 4096, imageBytes: 70_000, patchBytes: 3, crc32: 0x9ABC_DEF0)
    #expect(header.encoded == bytes("00 10 00 00 70 11 01 00 03 00 00 00 F0 DE BC 9A"))
    #expect(try PartHeader(decoding: header.encoded[...], at: 0) == header)
  }

  @Test func wrongHeadersAreRefusedAtTheirField() throws {
    let (base, image) = release(1000)
    let planner = DeliveryPlanner(
      image: image,
      abilities: DecoderAbilities(
        hasCRLE: true, largestWindow: 10, largestLookahead: 10, pageSize: 256),
      conditions: conditions(1000))
    let stream = planner.composed(
      against: PatchBase(base), partSize: 256, codecs: [.crle]
    ).bytes
    func fault(_ offset: Int, _ value: [UInt8]) -> PatchFault? {
      var broken = stream
      broken.replaceSubrange(offset..<offset + value.count, with: value)
      do throws(PatchFault) {
        _ = try PatchParts.apply(broken, to: base, imageSize: image.count, pageSize: 256)
        return nil
      } catch {
        return error
      }
    }
    #expect(fault(0, [9])?.reason == .partHeader(.imageOffset(9, expected: 0)))
    #expect(fault(4, [0, 0])?.reason == .partHeader(.imageBytes(0, left: 1000)))
    #expect(fault(4, [0, 0, 1])?.reason == .partHeader(.imageBytes(65536, left: 1000)))
    #expect(fault(4, [255, 0])?.reason == .partHeader(.notWholePages(255)))
    #expect(fault(4, [0, 2])?.reason == .partHeader(.patchDisagrees(256)))
    #expect(fault(11, [1])?.offset == 8)
    guard case .checksum = fault(12, [stream[12] ^ 1])?.reason else {
      Issue.record("a wrong checksum")
      return
    }
  }
}
