import Synchronization

/// The storage of a simulated flash, without the rules of flash.
public protocol FlashMedium: AnyObject, Sendable {
  /// The size in bytes.
  var size: Int { get }

  /// Returns the bytes of a range of addresses.
  func read(_ range: Range<Int>) throws(FlashFault) -> [UInt8]

  /// Overwrites bytes without any checks.
  func write(_ bytes: [UInt8], at address: Int) throws(FlashFault)
}

/// Flash in the memory of the process; initially erased.
public final class FlashMemory: FlashMedium {
  public let size: Int
  private let bytes: Mutex<[UInt8]>

  /// Creates an erased flash of `size` bytes.
  public init(size: Int) {
    self.size = size
    bytes = Mutex([UInt8](repeating: 0xFF, count: size))
  }

  /// Returns the bytes of a range of addresses.
  public func read(_ range: Range<Int>) -> [UInt8] { bytes.withLock { Array($0[range]) } }

  /// Overwrites bytes without any checks.
  public func write(_ new: [UInt8], at address: Int) {
    bytes.withLock { $0.replaceSubrange(address..<address + new.count, with: new) }
  }
}
