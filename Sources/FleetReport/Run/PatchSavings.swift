import OtaflashFleet

/// What updates that succeeded were sent instead of their images.
package struct PatchSavings: Hashable, Sendable {
  package let devices: Int
  /// Bytes of patches, or of compressed images, repeats included.
  package let sent: Int
  /// Bytes of the images that the devices made of them.
  package let made: Int

  /// - Returns: `nil` where images alone were sent.
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

  /// `3 devices were sent 64 kB for 786 kB of image`.
  package var words: String {
    "\(Figures.counted(devices, "device")) \(devices == 1 ? "was" : "were") sent "
      + "\(Figures.size(sent)) for \(Figures.size(made)) of image"
  }
}
