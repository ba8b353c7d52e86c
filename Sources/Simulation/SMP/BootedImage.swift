/// One image of a device: its flash area with two slots, and the bootloader's decision on the
/// slots.
struct BootedImage: Sendable {
  let loader: Bootloader
  var record: BootRecord

  var layout: FlashLayout { loader.layout }
}

/// A slot in flash: number 0 or 1 of an image, regardless of which slot is running.
struct SlotPlace: Hashable, Sendable {
  var image: Int
  var slot: Int
}
