/// The bytes to send for an image: the image itself, or a stream of parts.
package struct Delivery: Sendable {
  package enum Content: Equatable, Sendable {
    case plain
    /// A stream against an empty base.
    case compressed
    /// A stream against the running image.
    case difference
  }

  /// The exclusive limit of the size of a worthwhile stream, as a fraction of the image size.
  private static let worthwhile = 0.9

  package let content: Content
  package let bytes: [UInt8]
  /// The codecs of the parts in the order of their first use; empty for the image itself.
  package let codecs: [PatchCodec]
  /// The number of image bytes in each part but the last; the size of the image if there is one
  /// part.
  package let partSize: Int
  /// The number of sent bytes up to the end of each page of the image.
  package let bytesAtPages: [Int]
  /// The number of pages up to the end of each part.
  let partEnds: [Int]
  /// For each page, whether the slot is expected to hold it already; empty if this is unknown.
  let unchanged: [Bool]
  package private(set) var forecast: DeliveryForecast

  init(
    content: Content, bytes: [UInt8], codecs: [PatchCodec], partSize: Int, bytesAtPages: [Int],
    partEnds: [Int], unchanged: [Bool] = [], under conditions: DeliveryConditions
  ) {
    self.content = content
    self.bytes = bytes
    self.codecs = codecs
    self.partSize = partSize
    self.bytesAtPages = bytesAtPages
    self.partEnds = partEnds
    self.unchanged = unchanged
    forecast = conditions.forecast(
      bytesAtPages: bytesAtPages, partEnds: partEnds, isDecoded: content != .plain,
      unchanged: unchanged)
  }

  /// Returns the same delivery with the forecast for another link, or for another flash with pages
  /// of the same size.
  package func predicted(under conditions: DeliveryConditions) -> Delivery {
    var other = self
    other.forecast = conditions.forecast(
      bytesAtPages: bytesAtPages, partEnds: partEnds, isDecoded: content != .plain,
      unchanged: unchanged)
    return other
  }

  /// Whether the stream saves enough bytes to be sent instead of the image.
  package func isWorthwhile(against plain: Delivery) -> Bool {
    Double(bytes.count) < Self.worthwhile * Double(plain.bytes.count)
  }

  /// The number of parts; 1 for the image itself.
  package var partCount: Int { partEnds.isEmpty || content == .plain ? 1 : partEnds.count }
}
