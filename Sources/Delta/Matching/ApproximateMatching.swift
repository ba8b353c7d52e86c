/// Finds similar parts of an image and a base by bsdiff's rule (Percival, "Naive differences of
/// executable code", 2003). An alignment is kept until an exact match elsewhere has more than 8
/// bytes that the alignment does not match. Then the old alignment is extended forward and the new
/// alignment backward, as long as half of the bytes agree.
struct ApproximateMatching {
  /// The number of mismatches of an alignment above which a new alignment replaces it.
  private static let advantage = 8
  /// The length of a match above which its next byte continues the match without a search, so that
  /// runs of padding cost no more than other bytes.
  private static let lengthTakenOver = 4096

  private let search: PatchBase.Search
  private let image: UnsafeBufferPointer<UInt8>
  /// Whether matches are used that bsdiff's search misses, and whether any was used.
  private let usesMissed: Bool
  private var usedMissed = false
  private var base: UnsafeBufferPointer<UInt8> { search.bytes }
  /// The start of the current alignment in the image and in the base.
  private var imageStart = 0
  private var baseStart = 0
  private var steps: [PatchStep] = []

  /// Returns one or two sequences of steps that create `image`; the last step of each contains no
  /// seek. There are two sequences if bsdiff's search misses longer matches: one with these
  /// matches, and the sequence of bsdiff. Either can result in the smaller patch.
  static func steps(from base: PatchBase, to image: ArraySlice<UInt8>) -> [[PatchStep]] {
    guard !base.bytes.isEmpty else {
      return [[PatchStep(difference: 0, extra: image.count, seek: 0)]]
    }
    return base.withSearch { search in
      image.withUnsafeBufferPointer { image in
        var matching = ApproximateMatching(search, image, usesMissed: true)
        matching.run()
        guard matching.usedMissed else { return [matching.steps] }
        var plain = ApproximateMatching(search, image, usesMissed: false)
        plain.run()
        return [matching.steps, plain.steps]
      }
    }
  }

  private init(
    _ search: PatchBase.Search, _ image: UnsafeBufferPointer<UInt8>, usesMissed: Bool
  ) {
    self.search = search
    self.image = image
    self.usesMissed = usesMissed
  }

  private mutating func run() {
    var at = 0
    var match = PatchBase.Match(position: 0, length: 0)
    while at < image.count {
      at += match.length
      var agreed = 0
      var counted = at
      match.length = 0
      while at < image.count {
        match = next(at, after: match)
        while counted < at + match.length {
          agreed += alignmentAgrees(counted) ? 1 : 0
          counted += 1
        }
        if match.length == agreed && match.length != 0 { break }
        if match.length > agreed + Self.advantage { break }
        agreed -= alignmentAgrees(at) ? 1 : 0
        at += 1
      }
      if at == image.count {
        finish()
      } else if match.length != agreed {
        realign(at, match)
      }
    }
  }

  private mutating func next(_ at: Int, after match: PatchBase.Match) -> PatchBase.Match {
    if match.length > Self.lengthTakenOver {
      return PatchBase.Match(position: match.position + 1, length: match.length - 1)
    }
    let (match, missed) = search.longest(UnsafeBufferPointer(rebasing: image[at...]))
    guard usesMissed, let missed else { return match }
    usedMissed = true
    return missed
  }

  private func alignmentAgrees(_ i: Int) -> Bool {
    let place = i + baseStart - imageStart
    return place < base.count && base[place] == image[i]
  }

  /// Ends the current alignment and starts the alignment of a match.
  private mutating func realign(_ at: Int, _ match: PatchBase.Match) {
    var forward = forwardReach(to: at)
    var backward = backwardReach(from: at, match)
    let overlap = imageStart + forward - (at - backward)
    if overlap > 0 {
      let kept = cut(overlap, old: forward, new: backward, at, match)
      forward += kept - overlap
      backward -= kept
    }
    let extra = at - backward - (imageStart + forward)
    let place = match.position - backward
    let seek = place - (baseStart + forward)
    if forward + extra == 0, let last = steps.indices.last {
      // A step that creates no bytes only extends the seek of the previous step.
      steps[last].seek += seek
    } else {
      steps.append(PatchStep(difference: forward, extra: extra, seek: seek))
    }
    imageStart = at - backward
    baseStart = place
  }

  private mutating func finish() {
    let forward = forwardReach(to: image.count)
    steps.append(
      PatchStep(difference: forward, extra: image.count - imageStart - forward, seek: 0))
  }

  /// The number of bytes by which extending the current alignment is worthwhile.
  private func forwardReach(to end: Int) -> Int {
    var reach = Reach()
    for i in 0..<min(end - imageStart, base.count - baseStart) {
      reach.take(base[baseStart + i] == image[imageStart + i])
    }
    return reach.best
  }

  /// The number of bytes by which extending a match backward is worthwhile.
  private func backwardReach(from at: Int, _ match: PatchBase.Match) -> Int {
    var reach = Reach()
    for i in 0..<min(at - imageStart, match.position) {
      reach.take(base[match.position - 1 - i] == image[at - 1 - i])
    }
    return reach.best
  }

  /// The number of the `overlap` bytes in both alignments that the old alignment keeps, chosen so
  /// that most bytes agree.
  private func cut(
    _ overlap: Int, old forward: Int, new backward: Int, _ at: Int, _ match: PatchBase.Match
  ) -> Int {
    let start = imageStart + forward - overlap
    var score = 0
    var best = (score: 0, kept: 0)
    for i in 0..<overlap {
      if image[start + i] == base[baseStart + forward - overlap + i] { score += 1 }
      if image[start + i] == base[match.position - backward + i] { score -= 1 }
      if score > best.score { best = (score, i + 1) }
    }
    return best.kept
  }
}

/// The length of an extension, chosen so that the number of agreeing bytes minus the number of
/// differing bytes is as large as possible.
private struct Reach {
  private(set) var best = 0
  private var length = 0
  private var surplus = 0
  private var bestSurplus = 0

  mutating func take(_ agrees: Bool) {
    length += 1
    surplus += agrees ? 1 : -1
    if surplus > bestSurplus { (bestSurplus, best) = (surplus, length) }
  }
}
