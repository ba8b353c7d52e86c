/// What is sent so that a device gets an image: the image itself, or a stream of parts.
package struct Delivery: Sendable {
  package enum Content: Equatable, Sendable {
    case plain
    /// Against an empty base.
    case compressed
    /// Against the image that runs.
    case difference
  }

  /// Of the image's bytes, the share below which a stream saves something.
  private static let worthwhile = 0.9

  package let content: Content
  package let bytes: [UInt8]
  /// Which codecs the parts use, in the order of their first use; none for the image itself.
  package let codecs: [PatchCodec]
  /// Bytes of image in each part but the last; the whole image where there is one part.
  package let partSize: Int
  /// For each page of the image, the bytes that it takes to make all of it.
  package let bytesAtPages: [Int]
  /// After how many pages parts end.
  let partEnds: [Int]
  package private(set) var forecast: DeliveryForecast

  init(
    content: Content, bytes: [UInt8], codecs: [PatchCodec], partSize: Int, bytesAtPages: [Int],
    partEnds: [Int], under conditions: DeliveryConditions
  ) {
    self.content = content
    self.bytes = bytes
    self.codecs = codecs
    self.partSize = partSize
    self.bytesAtPages = bytesAtPages
    self.partEnds = partEnds
    forecast = conditions.forecast(bytesAtPages: bytesAtPages, partEnds: partEnds)
  }

  /// The same bytes over another link, or into another flash with pages of the same size.
  package func predicted(under conditions: DeliveryConditions) -> Delivery {
    var other = self
    other.forecast = conditions.forecast(bytesAtPages: bytesAtPages, partEnds: partEnds)
    return other
  }

  /// It saves enough of the image's bytes to be sent instead.
  package func isWorthwhile(against plain: Delivery) -> Bool {
    Double(bytes.count) < Self.worthwhile * Double(plain.bytes.count)
  }

  /// In how many parts the bytes are sent; the image itself is in one.
  package var partCount: Int { partEnds.isEmpty || content == .plain ? 1 : partEnds.count }
}
