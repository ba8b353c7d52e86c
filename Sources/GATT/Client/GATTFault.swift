import OtaflashATT

/// The reason why a GATT procedure failed. The cases distinguish failures of the server, the link
/// and the caller.
#if hasAttribute(nonexhaustive)
@nonexhaustive
#endif
public enum GATTFault: Error, Equatable, Sendable {
  /// The server refused the request with an ATT error.
  case refused(AttributeReference, ATTErrorCode)
  /// The server requires a more secure link for this attribute, and the security could not be
  /// raised.
  case insecure(AttributeReference, ATTErrorCode, SecurityFault)
  /// The server sent a PDU that the specification forbids.
  case violation(String)
  /// The server did not respond within the ATT transaction timeout; the bearer is closed (Core 5.4,
  /// Vol 3, Part F, 3.3.3).
  case transactionTimedOut
  /// The link ended before or during the procedure.
  case linkLost(LinkLoss)
  /// The waiting task was cancelled.
  case cancelled
  /// The time limit of the procedure expired.
  case timedOut(after: Duration)
  /// The requested attribute is not on the server.
  case notFound(BluetoothUUID)
  /// The characteristic lacks the property that the procedure needs.
  case notPermitted(BluetoothUUID, needs: String)
  /// The queue is full: too many tasks wait.
  case queueFull(limit: Int)
  /// The requested ATT_MTU is outside 23…517; nothing was sent.
  case mtuOutOfRange(Int)
  /// The subscription was ended for all subscribers (`unsubscribe`).
  case unsubscribed
  /// The value is longer than the procedure supports.
  case valueTooLong(bytes: Int, limit: Int)
}
