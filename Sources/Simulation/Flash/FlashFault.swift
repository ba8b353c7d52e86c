/// Why a flash operation could not be carried out. All but `medium` are faults of the firmware that
/// asked for it.
public enum FlashFault: Error, Equatable, Sendable {
  case outOfBounds(address: Int, octets: Int, size: Int)
  case misaligned(address: Int, octets: Int, alignment: Int)
  /// A byte was to be written twice without an erase between.
  case notErased(address: Int)
  case notAPage(address: Int, pageSize: Int)
  /// The file behind the flash failed; `errno` says how.
  case medium(operation: String, errno: Int32)
}
