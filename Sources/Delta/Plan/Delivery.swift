/// What is sent so that a device gets an image: the image itself, or a stream of parts.
package struct Delivery: Sendable {
  package enum Content: Equatable, Sendable {
    case plain
    /// Against an empty base.
    case compressed
    /// Against the image that runs.
    case difference
  }

  package let content: Content
  package let octets: [UInt8]
  /// Which codecs the parts use, in the order of their first use; none for the image itself.
  package let codecs: [PatchCodec]
  /// Octets of image in each part but the last; the whole image where there is one part.
  package let partSize: Int
  package let forecast: DeliveryForecast
}
