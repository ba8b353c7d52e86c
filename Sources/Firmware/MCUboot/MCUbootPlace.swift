/// Where in a device with several images or slots one belongs.
public struct MCUbootPlace: Hashable, Sendable {
  /// Which of the device's images; 0 for the only one.
  public let imageIndex: Int
  /// The slot that the image was linked for; `nil` when it is for whichever is free.
  public let slot: Int?

  /// The place of one image of a device with several.
  public init(imageIndex: Int = 0, slot: Int? = nil) {
    self.imageIndex = imageIndex
    self.slot = slot
  }
}
