/// The shape of a flash memory and the time that its operations take.
public struct FlashGeometry: Hashable, Sendable {
  /// In octets, as all sizes here.
  public var size: Int
  /// What is erased at a time.
  public var pageSize = 4096
  /// Address and length of a write are multiples of this.
  public var writeAlignment = 4
  /// The time to erase one page.
  public var eraseTime: Duration = .milliseconds(85)
  /// The time to write 4 KiB; shorter writes take their share.
  public var writeTimePer4KiB: Duration = .milliseconds(40)

  public init(size: Int) { self.size = size }

  public func duration(of operation: FlashOperation) -> Duration {
    switch operation {
    case .erase: return eraseTime
    case .write(let bytes, _): return writeTimePer4KiB * bytes.count / 4096
    }
  }
}

/// What changes flash.
public enum FlashOperation: Hashable, Sendable {
  /// Sets a page to 0xFF.
  case erase(page: Int)
  /// Programs erased bytes.
  case write([UInt8], at: Int)
}
