/// The reason why a connection attempt failed. The messages are for users; programs evaluate the
/// case.
#if hasAttribute(nonexhaustive)
@nonexhaustive
#endif
public enum ConnectFault: Error, Equatable, Hashable, Sendable {
  /// There is no adapter, the adapter is off, or the kernel has no Bluetooth. `cause` is a complete
  /// sentence.
  case adapterUnavailable(cause: String, remedy: Remedy)
  /// The device did not respond or advertise within the time limit.
  case deviceNotFound(cause: String, remedy: Remedy)
  /// Another process or the Bluetooth daemon holds the link.
  case busy(cause: String, remedy: Remedy)
  /// The system or the device requires a permission that this process lacks.
  case permissionDenied(cause: String, remedy: Remedy)
  /// Any other failed system call.
  case systemCall(name: String, errno: Int32, cause: String, remedy: Remedy)
  /// The link was lost before it could be used, or was not established because several devices
  /// matched. A retry may succeed, except after `.keysRefused`.
  case lostWhileConnecting(LinkLoss)
  /// The connecting task was cancelled.
  case cancelled
}
