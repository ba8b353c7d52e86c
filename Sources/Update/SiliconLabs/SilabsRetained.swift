import OtaflashATT
import OtaflashGATT

/// The state that an update over Silicon Labs' protocol retains from one connection to the next.
struct SilabsRetained: RetainedValue {
  var before = IdentityBefore()
  /// Whether the device receives the image in a loader, not in its application.
  var isLoader = false
  /// The number of transfers that may have failed because the device dropped writes.
  var failures = 0
  /// The time at which the host closed the connection after a complete transfer.
  var closed: LinkInstant?
  /// Whether the device has restarted since the host closed this connection.
  var hasRestarted = false
}
