/// Why a flash operation could not be carried out. All but `medium` are faults of the firmware that
/// asked for it.
public enum FlashFault: Error, Equatable, Sendable {
  /// The flash ends before.
  case outOfBounds(address: Int, octets: Int, size: Int)
  /// The address, or the size, is no multiple of the unit.
  case misaligned(address: Int, octets: Int, alignment: Int)
  /// A byte was to be written twice without an erase between.
  case notErased(address: Int)
  /// A page begins elsewhere.
  case notAPage(address: Int, pageSize: Int)
  /// The file behind the flash failed; `errno` says how.
  case medium(operation: String, errno: Int32)
}
