/// The place of an image in a device with several images or slots.
public struct MCUbootPlace: Hashable, Sendable {
  /// The number of the device's image; 0 if the device has only one image.
  public let imageIndex: Int
  /// The slot for which the image was linked; `nil` = any free slot.
  public let slot: Int?

  /// Creates the place of an image.
  public init(imageIndex: Int = 0, slot: Int? = nil) {
    self.imageIndex = imageIndex
    self.slot = slot
  }
}
