/// The flash layout of one image: two slots, two metadata pages of the receiver, and two record
/// pages of the bootloader. The areas of further images follow in the same order.
struct FlashLayout: Hashable, Sendable {
  let slotSize: Int
  let pageSize: Int
  /// The start address.
  private var start = 0

  init(slotSize: Int, pageSize: Int) {
    self.slotSize = slotSize
    self.pageSize = pageSize
  }

  func slot(_ index: Int) -> Int { start + index * slotSize }

  var metadata: [Int] { [slot(2), slot(2) + pageSize] }

  var bootRecords: [Int] { [slot(2) + 2 * pageSize, slot(2) + 3 * pageSize] }

  /// The size in bytes.
  var size: Int { 2 * slotSize + 4 * pageSize }

  /// Returns the layout of the image with this number; the first image has number 0.
  func ofImage(_ index: Int) -> FlashLayout {
    var layout = self
    layout.start = index * size
    return layout
  }
}

extension BoardSettings {
  static let pageSize = 4096

  var layout: FlashLayout { FlashLayout(slotSize: slotSize, pageSize: Self.pageSize) }

  /// Returns a flash geometry of this size, with the flash speed of the settings.
  func geometry(size: Int) -> FlashGeometry {
    var geometry = FlashGeometry(size: size)
    geometry.pageSize = Self.pageSize
    geometry.eraseTime = eraseTime
    geometry.writeTimePer4KiB = writeTimePer4KiB
    return geometry
  }
}
