/// Why a device could not be connected. Texts are for people; programs read the case.
#if hasAttribute(nonexhaustive)
@nonexhaustive
#endif
public enum ConnectFault: Error, Equatable, Hashable, Sendable {
  /// No adapter, adapter off, or this kernel has no Bluetooth. `cause` is a
  /// whole sentence.
  case adapterUnavailable(cause: String, remedy: Remedy)
  /// The device did not answer or advertise within the time limit.
  case deviceNotFound(cause: String, remedy: Remedy)
  /// Another process or the daemon holds the link.
  case busy(cause: String, remedy: Remedy)
  /// The system or the device wants a right that we do not have.
  case permissionDenied(cause: String, remedy: Remedy)
  /// Any other failed system call.
  case systemCall(name: String, errno: Int32, cause: String, remedy: Remedy)
  /// The link came up and went away before it could be used; worth another try.
  case lostWhileConnecting(LinkLoss)
  /// The task that connected was cancelled.
  case cancelled
}
