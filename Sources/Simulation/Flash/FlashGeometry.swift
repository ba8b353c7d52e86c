/// The shape of a flash memory and the time that its operations take.
package struct FlashGeometry: Hashable, Sendable {
  /// The total size in bytes; all sizes of this type are in bytes.
  package var size: Int
  /// The erase unit.
  package var pageSize = 4096
  /// The unit of writes: address and length of a write are multiples of this unit.
  package var writeAlignment = 4
  /// The time to erase one page.
  package var eraseTime: Duration = .milliseconds(85)
  /// The time to write 4 KiB; shorter writes take a proportional time.
  package var writeTimePer4KiB: Duration = .milliseconds(40)

  package init(size: Int) { self.size = size }

  package func duration(of operation: FlashOperation) -> Duration {
    switch operation {
    case .erase: return eraseTime
    case .write(let bytes, _): return writeTimePer4KiB * bytes.count / 4096
    }
  }
}

/// An operation that changes flash.
package enum FlashOperation: Hashable, Sendable {
  /// Sets a page to 0xFF.
  case erase(page: Int)
  /// Programs erased bytes.
  case write([UInt8], at: Int)
}
