/// A detools patch of the type "sequential": head, size of the image, and a compressed stream of
/// differences to the base, new octets, and moves in the base.
package struct Patch: Sendable {
  package let codec: PatchCodec
  package let octets: [UInt8]

  /// Sets a compressed stream behind its head.
  private init(imageSize: Int, codec: PatchCodec, compressed: [UInt8]) {
    self.codec = codec
    var octets = [codec.number]
    PatchNumber.append(imageSize, to: &octets)
    self.octets = octets + compressed
  }

  /// Makes the patch that turns `base` into `image` (not empty). Against an empty base it is the
  /// image, compressed.
  package init(from base: PatchBase, to image: ArraySlice<UInt8>, codec: PatchCodec) {
    self = .smallest(from: base, to: image, codecs: [codec])
  }

  /// The smallest patch that one of some codecs makes, the first of equals.
  package static func smallest(
    from base: PatchBase, to image: ArraySlice<UInt8>, codecs: [PatchCodec]
  ) -> Patch {
    var smallest: Patch?
    each(from: base, to: image, codecs: codecs) { patch in
      if patch.octets.count < smallest?.octets.count ?? .max { smallest = patch }
    }
    guard let smallest else { preconditionFailure("there is no patch without a codec") }
    return smallest
  }

  /// The patches that some codecs make, one after the other.
  package static func each(
    from base: PatchBase, to image: ArraySlice<UInt8>, codecs: [PatchCodec], _ body: (Patch) -> Void
  ) {
    precondition(!image.isEmpty, "there is no patch that makes nothing")
    let stream = PatchStream.octets(from: base, to: image)
    let reach = codecs.map(\.reach).max() ?? 0
    let index = reach > 0 ? StreamIndex(stream, reach: reach) : nil
    for codec in codecs {
      let octets = codec.compress(stream, index: index)
      body(Patch(imageSize: image.count, codec: codec, compressed: octets))
    }
  }
}

/// What is in a patch before it is compressed.
enum PatchStream {
  static func octets(from base: PatchBase, to image: ArraySlice<UInt8>) -> [UInt8] {
    let steps = ApproximateMatching.steps(from: base, to: image)
    var octets: [UInt8] = []
    octets.reserveCapacity(image.count + 4 * steps.count)
    // No data format.
    PatchNumber.append(0, to: &octets)
    var at = image.startIndex
    var from = 0
    for step in steps {
      PatchNumber.append(step.difference, to: &octets)
      for i in 0..<step.difference { octets.append(image[at + i] &- base.bytes[from + i]) }
      at += step.difference
      from += step.difference + step.seek
      PatchNumber.append(step.extra, to: &octets)
      octets += image[at..<at + step.extra]
      at += step.extra
      PatchNumber.append(step.seek, to: &octets)
    }
    return octets
  }
}
