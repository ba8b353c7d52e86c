import OtaflashFleet

/// The bytes that successful updates saved by patches and compression.
package struct PatchSavings: Hashable, Sendable {
  package let devices: Int
  /// The bytes of patches or compressed images, including repeated bytes.
  package let sent: Int
  /// The bytes of the images that the devices created from patches or compressed images.
  package let made: Int

  /// - Returns: `nil` if all devices received uncompressed images.
  package init?(_ updates: some Sequence<UpdateFigures>) {
    var (devices, sent, made) = (0, 0, 0)
    for figures in updates {
      guard let bytes = figures.made else { continue }
      devices += 1
      sent += figures.bytes
      made += bytes
    }
    guard devices > 0 else { return nil }
    (self.devices, self.sent, self.made) = (devices, sent, made)
  }

  /// A clause such as `3 devices received 64 kB for 786 kB of images`.
  package var words: String {
    "\(Figures.counted(devices, "device")) received \(Figures.size(sent)) for "
      + "\(Figures.size(made)) of images"
  }
}
