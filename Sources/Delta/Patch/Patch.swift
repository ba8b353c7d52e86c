/// A detools patch of type "sequential": a header, the image size, and a compressed stream of
/// differences from the base, new bytes, and seeks in the base.
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
    var smallest: Patch?
    each(from: base, to: image, codecs: codecs) { patch in
      if patch.bytes.count < smallest?.bytes.count ?? .max { smallest = patch }
    }
    guard let smallest else { preconditionFailure("a patch needs a codec") }
    return smallest
  }

  /// Creates a patch with each of some codecs.
  package static func each(
    from base: PatchBase, to image: ArraySlice<UInt8>, codecs: [PatchCodec], _ body: (Patch) -> Void
  ) {
    precondition(!image.isEmpty, "a patch must create bytes")
    let mapped = codecs.filter(\.isMapped)
    let sequential = codecs.filter { !$0.isMapped }
    if !sequential.isEmpty {
      each(of: PatchStream.bytes(from: base, to: image), sequential, image.count, body)
    }
    guard !mapped.isEmpty else { return }
    let content = MappedContent(from: base, to: image)
    let compressed = mapped.filter { $0 != .range }
    if !compressed.isEmpty { each(of: content.bytes(), compressed, image.count, body) }
    if mapped.contains(.range) {
      body(Patch(imageSize: image.count, codec: .range, compressed: content.rangeCoded()))
    }
  }

  private static func each(
    of stream: [UInt8], _ codecs: [PatchCodec], _ imageSize: Int, _ body: (Patch) -> Void
  ) {
    let reach = codecs.map(\.reach).max() ?? 0
    let index = reach > 0 ? StreamIndex(stream, reach: reach) : nil
    for codec in codecs {
      let bytes = codec.compress(stream, index: index)
      body(Patch(imageSize: imageSize, codec: codec, compressed: bytes))
    }
  }
}

/// The content of a patch before compression.
enum PatchStream {
  static func bytes(from base: PatchBase, to image: ArraySlice<UInt8>) -> [UInt8] {
    let steps = ApproximateMatching.steps(from: base, to: image)
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
