/// Why a device could not be connected. Texts are for people; programs read the case.
public enum ConnectFault: Error, Equatable, Hashable, Sendable {
  /// No adapter, adapter off, or this kernel has no Bluetooth (exit 69). `cause` and `remedy` are
  /// whole sentences.
  case adapterUnavailable(cause: String, remedy: String)
  /// The device did not answer or advertise within the time limit (exit 69).
  case deviceNotFound(cause: String, remedy: String)
  /// Another process or the daemon holds the link (exit 69).
  case busy(cause: String, remedy: String)
  /// The system or the device wants a right that we do not have (exit 77).
  case permissionDenied(cause: String, remedy: String)
  /// Any other failed system call (exit 71).
  case systemCall(name: String, errno: Int32, cause: String, remedy: String)
  /// The link came up and went away before it could be used; worth another try.
  case lostWhileConnecting(LinkLoss)
  case cancelled
}
