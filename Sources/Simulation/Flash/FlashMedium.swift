import Synchronization

/// The bytes behind a simulated flash, without any rules of flash.
public protocol FlashMedium: AnyObject, Sendable {
  /// In bytes.
  var size: Int { get }

  /// The bytes of a range of addresses.
  func read(_ range: Range<Int>) throws(FlashFault) -> [UInt8]

  /// Replaces bytes, whatever was there.
  func write(_ bytes: [UInt8], at address: Int) throws(FlashFault)
}

/// Flash that lives as long as the process; erased at first.
public final class FlashMemory: FlashMedium {
  public let size: Int
  private let bytes: Mutex<[UInt8]>

  /// `size` bytes, all erased.
  public init(size: Int) {
    self.size = size
    bytes = Mutex([UInt8](repeating: 0xFF, count: size))
  }

  /// The bytes of a range of addresses.
  public func read(_ range: Range<Int>) -> [UInt8] { bytes.withLock { Array($0[range]) } }

  /// Replaces bytes, whatever was there.
  public func write(_ new: [UInt8], at address: Int) {
    bytes.withLock { $0.replaceSubrange(address..<address + new.count, with: new) }
  }
}
