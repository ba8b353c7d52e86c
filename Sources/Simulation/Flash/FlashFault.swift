/// The reason why a flash operation failed. All cases except `medium` are errors of the firmware
/// that requested the operation.
#if hasAttribute(nonexhaustive)
@nonexhaustive
#endif
public enum FlashFault: Error, Equatable, Sendable {
  /// The address range exceeds the flash.
  case outOfBounds(address: Int, bytes: Int, size: Int)
  /// The address or the size is not a multiple of the unit.
  case misaligned(address: Int, bytes: Int, alignment: Int)
  /// A byte would be written twice without an erase in between.
  case notErased(address: Int)
  /// The address is not the start of a page.
  case notAPage(address: Int, pageSize: Int)
  /// An operation on the file of the flash failed with `errno`.
  case medium(operation: String, errno: Int32)
}

extension FlashFault: CustomStringConvertible {
  /// ENOSPC and EDQUOT of Linux.
  private static let fullDisk: Set<Int32> = [28, 122]

  public var description: String {
    switch self {
    case .outOfBounds(let address, let bytes, let size):
      "\(bytes) bytes at \(address) exceed the flash of \(size)"
    case .misaligned(let address, let bytes, let alignment):
      "\(bytes) bytes at \(address) are not aligned to \(alignment)"
    case .notErased(let address): "the byte at \(address) was written again without an erase"
    case .notAPage(let address, let pageSize): "no page of \(pageSize) starts at \(address)"
    case .medium(let operation, let errno):
      Self.fullDisk.contains(errno)
        ? "\(operation) failed: the disk is full (errno \(errno))"
        : "\(operation) failed (errno \(errno))"
    }
  }
}
