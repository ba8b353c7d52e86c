import OtaflashTestSupport
import Testing

@testable import OtaflashDelta

@Suite struct MatchingTests {
  @Test(arguments: [1, 2, 3, 256])
  func suffixesAreInOrder(_ kinds: Int) {
    var random = SplitMix64(seed: UInt64(kinds))
    for count in Array(0..<40) + [100, 257, 700] {
      let text = random.bytes(count, kinds: kinds)
      let sorted = text.indices.sorted { text[$0...].lexicographicallyPrecedes(text[$1...]) }
      #expect(SuffixArray(text).order.map(Int.init) == sorted, "\(text)")
    }
  }

  /// Repetitive texts need more than one level of names.
  @Test func suffixesOfRepeatedTextAreInOrder() {
    var text: [UInt8] = [0]
    var before: [UInt8] = [1]
    for _ in 0..<12 { (text, before) = (text + before, text) }
    for text in [text, text + text, Array(text.reversed())] {
      let sorted = text.indices.sorted { text[$0...].lexicographicallyPrecedes(text[$1...]) }
      #expect(SuffixArray(text).order.map(Int.init) == sorted)
    }
  }

  @Test(arguments: [2, 5, 256])
  func theLongestMatchIsFound(_ kinds: Int) {
    var random = SplitMix64(seed: 9)
    let base = random.bytes(300, kinds: kinds)
    let wanted = random.bytes(60, kinds: kinds) + base[200...]
    let index = PatchBase(base)
    index.withSearch { search in
      wanted.withUnsafeBufferPointer { wanted in
        for start in wanted.indices {
          let rest = UnsafeBufferPointer(rebasing: wanted[start...])
          let (match, missed) = search.longest(rest)
          let found = missed ?? match
          let longest = base.indices.map { common(base[$0...], rest) }.max() ?? 0
          #expect(found.length + PatchBase.Search.worthMore >= longest)
          #expect(common(base[match.position...], rest) == match.length)
          #expect(common(base[found.position...], rest) == found.length)
        }
      }
    }
  }

  private func common(_ a: ArraySlice<UInt8>, _ b: UnsafeBufferPointer<UInt8>) -> Int {
    zip(a, b).prefix { $0 == $1 }.count
  }

  @Test func stepsCreateTheImageAndStayInTheBase() {
    var random = SplitMix64(seed: 3)
    for _ in 0..<60 {
      let base = random.bytes(Int.random(in: 0..<900, using: &random), kinds: 40)
      let image = random.edited(base, pieces: 4)
      for steps in ApproximateMatching.steps(from: PatchBase(base), to: image[...]) {
        var from = 0
        var made = 0
        for step in steps {
          #expect(step.difference <= base.count - from)
          made += step.difference + step.extra
          from += step.difference + step.seek
          #expect((0...base.count).contains(from))
        }
        #expect(made == image.count)
      }
    }
  }

  /// Longer matches do not always result in smaller patches.
  @Test func theSmallerOfTwoMatchingsIsUsed() {
    var random = SplitMix64(seed: 7)
    var smallerWithoutLongMatches = 0
    for _ in 0..<200 {
      // The longest matches are repetitions that end with the base.
      let block = random.bytes(60)
      var base: [UInt8] = []
      while base.count < 600 { base += block + random.bytes(Bool.random(using: &random) ? 0 : 9) }
      let image = random.edited(base, pieces: 4)
      let sizes = ApproximateMatching.steps(from: PatchBase(base), to: image[...]).map { steps in
        PatchCodec.crle.compress(
          PatchStream.bytes(steps, from: PatchBase(base), to: image[...]), index: nil
        ).count
      }
      let patch = Patch(from: PatchBase(base), to: image[...], codec: .crle)
      let header = 1 + (image.count < 64 ? 1 : image.count < 8192 ? 2 : 3)
      #expect(patch.bytes.count == header + (sizes.min() ?? 0))
      if sizes.count == 2, sizes[1] < sizes[0] { smallerWithoutLongMatches += 1 }
    }
    #expect(smallerWithoutLongMatches > 0)
  }

  /// A run of padding must not be searched at each of its bytes, which would take minutes.
  @Test func paddingIsCheap() throws {
    let base = [UInt8](repeating: 0xFF, count: 60_000)
    let image = base + [1, 2, 3] + base
    let patch = Patch(from: PatchBase(base), to: image[...], codec: .crle)
    #expect(patch.bytes.count < 60)
    let result = try PatchReader.apply(patch.bytes[...], to: base, limit: image.count)
    #expect(result.image == image)
  }

  @Test func nearestMembersAreFound() {
    var random = SplitMix64(seed: 5)
    var set = RankSet(below: 5000)
    var members: Set<Int> = []
    for _ in 0..<4000 {
      let number = Int.random(in: 0..<5000, using: &random)
      if members.count < 60 || Bool.random(using: &random) {
        set.insert(number)
        members.insert(number)
      } else if let gone = members.randomElement(using: &random) {
        set.remove(gone)
        members.remove(gone)
      }
      #expect(set.below(number) == members.filter { $0 < number }.max())
      #expect(set.above(number) == members.filter { $0 > number }.min())
    }
  }
}
