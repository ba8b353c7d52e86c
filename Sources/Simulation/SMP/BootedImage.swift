/// One image of a device with separate images: its flash area with two slots, and the bootloader's
/// decision on them.
struct BootedImage: Sendable {
  let loader: Bootloader
  var record: BootRecord

  var layout: FlashLayout { loader.layout }
}

/// A slot in flash: 0 or 1 of an image, regardless of which one runs.
struct SlotPlace: Hashable, Sendable {
  var image: Int
  var slot: Int
}
