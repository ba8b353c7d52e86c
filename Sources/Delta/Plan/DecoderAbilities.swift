/// The abilities of a device's decoder.
package struct DecoderAbilities: Hashable, Sendable {
  package var hasCRLE: Bool
  /// Whether the decoder supports patches without compression. otaflash creates such patches only
  /// for decoders that support no compression.
  package var takesUncompressed = true
  /// The binary logarithm of the largest heatshrink window in bytes; 0 = no heatshrink.
  package var largestWindow: Int
  package var largestLookahead: Int
  /// Whether the decoder supports format 2. The next property states whether it also supports the
  /// range coder of format 2.
  package var hasMap: Bool
  package var hasRangeCoder: Bool
  /// The page size in bytes, to which parts are aligned.
  package var pageSize: Int

  package init(
    hasCRLE: Bool, largestWindow: Int, largestLookahead: Int, hasMap: Bool = false,
    hasRangeCoder: Bool = false, pageSize: Int
  ) {
    precondition(pageSize > 0, "a page has bytes")
    self.hasCRLE = hasCRLE
    self.largestWindow = largestWindow
    self.largestLookahead = largestLookahead
    self.hasMap = hasMap
    self.hasRangeCoder = hasRangeCoder
    self.pageSize = pageSize
  }

  /// Whether this decoder supports the codec of a prebuilt patch.
  package func takes(_ codec: PatchCodec) -> Bool {
    switch codec {
    case .none: takesUncompressed
    case .crle: hasCRLE
    case .heatshrink(let parameters):
      takes(parameters)
    case .mapped(let parameters): hasMap && takes(parameters)
    case .range: hasMap && hasRangeCoder
    }
  }

  private func takes(_ parameters: HeatshrinkParameters) -> Bool {
    parameters.window <= largestWindow && parameters.lookahead <= largestLookahead
  }

  /// The codecs that are worth trying. Short references suit new bytes; long references suit a
  /// difference of mostly zeros. A shorter window needs fewer bits for each reference, so smaller
  /// windows are tried as well, and a device with a larger window never needs a larger patch.
  /// Patches without compression are as large as the image, so they are tried only if the decoder
  /// supports no compression.
  package var codecs: [PatchCodec] {
    let windows = largestWindow < 4 ? [] : Array(4...min(largestWindow, 14))
    let parameters = windows.flatMap { window in
      // The windows that no device has are tried only for the last percent.
      let lookaheads = window < 8 ? [window - 1] : [4] + Array(window - 4..<window)
      return Set(lookaheads.map { min($0, largestLookahead) }).sorted().compactMap {
        HeatshrinkParameters(window: window, lookahead: $0)
      }
    }
    let sequential = (hasCRLE ? [PatchCodec.crle] : []) + parameters.map(PatchCodec.heatshrink)
    let mapped = (hasRangeCoder ? [.range] : parameters.map(PatchCodec.mapped))
    let codecs = sequential + (hasMap ? mapped : [])
    return codecs.isEmpty ? [.none] : codecs
  }
}
