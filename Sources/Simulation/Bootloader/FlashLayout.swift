/// Where a board keeps what of one image: two slots, the receiver's two metadata pages, the boot
/// loader's two record pages. What belongs to further images lies behind, in the same order.
struct FlashLayout: Hashable, Sendable {
  let slotSize: Int
  let pageSize: Int
  /// The address at which it begins.
  private var start = 0

  init(slotSize: Int, pageSize: Int) {
    self.slotSize = slotSize
    self.pageSize = pageSize
  }

  func slot(_ index: Int) -> Int { start + index * slotSize }

  var metadata: [Int] { [slot(2), slot(2) + pageSize] }

  var bootRecords: [Int] { [slot(2) + 2 * pageSize, slot(2) + 3 * pageSize] }

  /// In bytes.
  var size: Int { 2 * slotSize + 4 * pageSize }

  /// The same for another of the board's images; 0 is the first.
  func ofImage(_ index: Int) -> FlashLayout {
    var layout = self
    layout.start = index * size
    return layout
  }
}

extension BoardSettings {
  static let pageSize = 4096

  var layout: FlashLayout { FlashLayout(slotSize: slotSize, pageSize: Self.pageSize) }

  /// Flash of so many bytes, as fast as the settings have it.
  func geometry(size: Int) -> FlashGeometry {
    var geometry = FlashGeometry(size: size)
    geometry.pageSize = Self.pageSize
    geometry.eraseTime = eraseTime
    geometry.writeTimePer4KiB = writeTimePer4KiB
    return geometry
  }
}
