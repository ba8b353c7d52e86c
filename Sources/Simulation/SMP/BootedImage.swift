/// One of the images that MCUboot keeps apart: its part of flash with two slots, and what the boot
/// loader has decided on them.
struct BootedImage: Sendable {
  let loader: Bootloader
  var record: BootRecord

  var layout: FlashLayout { loader.layout }
}

/// A slot in flash: 0 or 1 of an image, whichever of them runs.
struct SlotPlace: Hashable, Sendable {
  var image: Int
  var slot: Int
}
