/// Why a flash operation could not be carried out. All but `medium` are faults of the firmware that
/// asked for it.
#if hasAttribute(nonexhaustive)
@nonexhaustive
#endif
public enum FlashFault: Error, Equatable, Sendable {
  /// The flash ends before.
  case outOfBounds(address: Int, bytes: Int, size: Int)
  /// The address, or the size, is no multiple of the unit.
  case misaligned(address: Int, bytes: Int, alignment: Int)
  /// A byte was to be written twice without an erase between.
  case notErased(address: Int)
  /// A page begins elsewhere.
  case notAPage(address: Int, pageSize: Int)
  /// The file behind the flash failed; `errno` says how.
  case medium(operation: String, errno: Int32)
}

extension FlashFault: CustomStringConvertible {
  /// ENOSPC and EDQUOT of Linux.
  private static let fullDisk: Set<Int32> = [28, 122]

  public var description: String {
    switch self {
    case .outOfBounds(let address, let bytes, let size):
      "\(bytes) bytes at \(address) lie beyond the flash of \(size)"
    case .misaligned(let address, let bytes, let alignment):
      "\(bytes) bytes at \(address) are not aligned to \(alignment)"
    case .notErased(let address): "the byte at \(address) was to be written without an erase"
    case .notAPage(let address, let pageSize): "no page of \(pageSize) begins at \(address)"
    case .medium(let operation, let errno):
      Self.fullDisk.contains(errno)
        ? "\(operation) failed: the disk is full (errno \(errno))"
        : "\(operation) failed (errno \(errno))"
    }
  }
}
