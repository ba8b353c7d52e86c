/// A detools patch of type "sequential", or a patch of format 2: a header, the image size, and a
/// compressed stream of differences from the base, new bytes, and seeks in the base.
package struct Patch: Sendable {
  package let codec: PatchCodec
  package let bytes: [UInt8]

  /// Prepends the header to a compressed stream.
  private init(imageSize: Int, codec: PatchCodec, compressed: [UInt8]) {
    self.codec = codec
    var bytes = [codec.number]
    PatchNumber.append(imageSize, to: &bytes)
    self.bytes = bytes + compressed
  }

  /// Creates the patch that turns `base` into `image` (not empty). Against an empty base the patch
  /// is the compressed image.
  package init(from base: PatchBase, to image: ArraySlice<UInt8>, codec: PatchCodec) {
    self = .smallest(from: base, to: image, codecs: [codec])
  }

  /// Returns the smallest patch that some codecs yield; of equally small patches, the first.
  package static func smallest(
    from base: PatchBase, to image: ArraySlice<UInt8>, codecs: [PatchCodec]
  ) -> Patch {
    smallest(from: base, to: image, ofEach: [codecs])[0]
  }

  /// Returns the smallest patch that each of several groups of codecs yields. No group is empty.
  package static func smallest(
    from base: PatchBase, to image: ArraySlice<UInt8>, ofEach groups: [[PatchCodec]]
  ) -> [Patch] {
    precondition(!image.isEmpty, "a patch must create bytes")
    let contents = contents(from: base, to: image, for: Array(groups.joined()))
    return groups.map { codecs in
      let patches = contents.flatMap { content in
        content.compressed(codecs).map { codec, bytes in
          Patch(imageSize: image.count, codec: codec, compressed: bytes)
        }
      }
      guard let smallest = patches.min(by: { $0.bytes.count < $1.bytes.count }) else {
        preconditionFailure("a patch needs a codec")
      }
      return smallest
    }
  }

  /// Returns the contents of both formats, as far as the codecs need them, for each sequence of
  /// steps.
  private static func contents(
    from base: PatchBase, to image: ArraySlice<UInt8>, for codecs: [PatchCodec]
  ) -> [PatchContent] {
    let reach = codecs.map(\.reach).max() ?? 0
    let matchings = ApproximateMatching.steps(from: base, to: image)
    let sequential = matchings.lazy.map { steps in
      PatchContent(PatchStream.bytes(steps, from: base, to: image), reach: reach)
    }
    let mapped = matchings.lazy.map { steps in
      let content = MappedContent(steps, from: base, to: image)
      return PatchContent(
        codecs.contains { $0.isMapped && $0 != .range } ? content.bytes() : [], reach: reach,
        rangeCoded: codecs.contains(.range) ? content.rangeCoded() : [])
    }
    return (codecs.contains { !$0.isMapped } ? Array(sequential) : [])
      + (codecs.contains(where: \.isMapped) ? Array(mapped) : [])
  }
}

/// The content of a patch in one format, before compression.
private struct PatchContent {
  let stream: [UInt8]
  let index: StreamIndex?
  /// The content of format 2 in the range coder's encoding; `nil` = format 1.
  let rangeCoded: [UInt8]?

  init(_ stream: [UInt8], reach: Int, rangeCoded: [UInt8]? = nil) {
    self.stream = stream
    self.rangeCoded = rangeCoded
    index = reach > 0 ? StreamIndex(stream, reach: reach) : nil
  }

  /// Returns compressed contents, among them the smallest that the codecs yield.
  func compressed(_ codecs: [PatchCodec]) -> [(PatchCodec, [UInt8])] {
    var found: [(PatchCodec, [UInt8])] = []
    var parameters: [HeatshrinkParameters] = []
    for codec in codecs where codec.isMapped == (rangeCoded != nil) {
      switch codec {
      case .heatshrink(let some), .mapped(let some): parameters.append(some)
      case .range: found.append((codec, rangeCoded ?? []))
      case .none, .crle: found.append((codec, codec.compress(stream, index: index)))
      }
    }
    guard let index, !parameters.isEmpty else { return found }
    let (best, bytes) = HeatshrinkEncoder.smallest(stream, among: parameters, index: index)
    return found + [(rangeCoded == nil ? .heatshrink(best) : .mapped(best), bytes)]
  }
}

/// The content of a patch of format 1 before compression.
enum PatchStream {
  static func bytes(
    _ steps: [PatchStep], from base: PatchBase, to image: ArraySlice<UInt8>
  ) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(image.count + 4 * steps.count)
    // The size of the data format section, which is 0: no data format.
    PatchNumber.append(0, to: &bytes)
    var at = image.startIndex
    var from = 0
    for step in steps {
      PatchNumber.append(step.difference, to: &bytes)
      for i in 0..<step.difference { bytes.append(image[at + i] &- base.bytes[from + i]) }
      at += step.difference
      from += step.difference + step.seek
      PatchNumber.append(step.extra, to: &bytes)
      bytes += image[at..<at + step.extra]
      at += step.extra
      PatchNumber.append(step.seek, to: &bytes)
    }
    return bytes
  }
}
