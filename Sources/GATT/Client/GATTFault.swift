import OtaflashATT

/// Why a GATT procedure failed, and by whose doing.
#if hasAttribute(nonexhaustive)
@nonexhaustive
#endif
public enum GATTFault: Error, Equatable, Sendable {
  /// The server refused: it answered with an ATT error.
  case refused(AttributeReference, ATTErrorCode)
  /// The server wants a more secure link for this attribute, and the link could not be made so.
  case insecure(AttributeReference, ATTErrorCode, SecurityFault)
  /// The server answered with something that the specification forbids.
  case violation(String)
  /// No answer within the ATT transaction timeout; the bearer is closed (Core 5.4, Vol 3, Part F,
  /// 3.3.3).
  case transactionTimedOut
  /// The link ended while or before the procedure ran.
  case linkLost(LinkLoss)
  /// The waiting task was cancelled.
  case cancelled
  /// The procedure's own time limit ran out.
  case timedOut(after: Duration)
  /// The attribute that the caller asked for is not on the server.
  case notFound(BluetoothUUID)
  /// The characteristic lacks the property that the procedure needs.
  case notPermitted(BluetoothUUID, needs: String)
  /// More tasks wait for their turn than the queue holds.
  case queueFull(limit: Int)
  /// An ATT_MTU outside 23…517 was asked for; nothing was sent.
  case mtuOutOfRange(Int)
  /// Somebody ended the subscription for everyone (`unsubscribe`).
  case unsubscribed
  /// The value is longer than the procedure can carry.
  case valueTooLong(bytes: Int, limit: Int)
}
