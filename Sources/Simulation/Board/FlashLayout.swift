/// Where a board keeps what, from address 0: two image slots, the receiver's two metadata pages,
/// the boot loader's two record pages.
struct FlashLayout: Hashable, Sendable {
  let slotSize: Int
  let pageSize: Int

  func slot(_ index: Int) -> Int { index * slotSize }

  var metadata: [Int] { [2 * slotSize, 2 * slotSize + pageSize] }

  var bootRecords: [Int] { [2 * slotSize + 2 * pageSize, 2 * slotSize + 3 * pageSize] }

  var size: Int { 2 * slotSize + 4 * pageSize }
}

extension SimulationProfile {
  static let pageSize = 4096

  var layout: FlashLayout { FlashLayout(slotSize: slotSize, pageSize: Self.pageSize) }

  /// The octets of flash that a board of this profile needs: the size of its `FlashMedium`.
  public var flashSize: Int { layout.size }

  var geometry: FlashGeometry {
    var geometry = FlashGeometry(size: layout.size)
    geometry.pageSize = Self.pageSize
    geometry.eraseTime = eraseTime
    geometry.writeTimePer4KiB = writeTimePer4KiB
    return geometry
  }
}
