/// A transport for complete ATT PDUs in both directions: the kernel's L2CAP channel on CID 4, a
/// Unix SEQPACKET socket, or the simulated radio.
///
/// Message boundaries and order are preserved. `send` and `receive` may run concurrently, each in
/// one task at a time.
public protocol Link: AnyObject, Sendable {
  /// The largest PDU that the transport accepts, in bytes (672 on a kernel L2CAP socket).
  var maximumPDUSize: Int { get }

  /// The radio link's parameters that are known at the moment.
  var facts: LinkFacts { get }

  /// The current security of the link.
  var security: AttributeSecurity { get }

  /// Raises the security, with the keys of an earlier pairing or by pairing, and waits until the
  /// link carries PDUs again. No PDU may be sent during this call. The procedure may end the link.
  func raiseSecurity(to wanted: AttributeSecurity) async throws(SecurityFault)

  /// Passes one PDU to the transport. Suspends while the transport's queue is full (back-pressure).
  /// Returns when the transport has accepted the PDU, which is before its transmission.
  func send(_ pdu: [UInt8]) async throws(LinkLoss)

  /// Passes one PDU to the transport if it can accept the PDU immediately. Returns `false` if
  /// nothing was sent; use `send` to wait for space. The rule about concurrent use of `send` also
  /// applies to this function.
  func offer(_ pdu: [UInt8]) throws(LinkLoss) -> Bool

  /// Returns the next PDU from the peer. PDUs that the peer sent before the link ended are
  /// delivered before the loss is thrown. Every later call throws the same loss.
  func receive() async throws(LinkLoss) -> [UInt8]

  /// Ends the link. Every pending and every later wait fails with `.closedLocally`. Safe to call
  /// twice and from any task.
  func close()
}

/// The reason why an operation of a link failed. The link has ended, except after `.cancelled` and
/// `.tooLarge`.
#if hasAttribute(nonexhaustive)
@nonexhaustive
#endif
public enum LinkLoss: Error, Equatable, Hashable, Sendable {
  /// The peer ended the link (HCI reason 0x13, 0x14, 0x15; end of file on a Unix socket).
  case closedByPeer
  /// The host called `close()`.
  case closedLocally
  /// No packet was received within the supervision timeout (HCI reason 0x08).
  case supervisionTimeout
  /// The waiting task was cancelled; the link itself may still exist.
  case cancelled
  /// The keys of an earlier pairing were rejected (HCI reasons 0x05 and 0x06): one of the devices
  /// no longer has them. A new connection would fail in the same way.
  case keysRefused
  /// A PDU did not fit the transport; nothing was sent.
  case tooLarge(bytes: Int, limit: Int)
  /// The transport failed. `reason` states the cause in one or more complete sentences.
  case failed(errno: Int32, reason: String)
}

extension LinkLoss: CustomStringConvertible {
  /// The event as a clause for the user, such as `the device ended the connection`.
  public var description: String {
    switch self {
    case .closedByPeer: "the device ended the connection"
    case .closedLocally: "the host closed the connection"
    case .supervisionTimeout: "no packet was received from the device (supervision timeout)"
    case .cancelled: "the wait was cancelled"
    case .keysRefused: "the device no longer has the keys of the pairing"
    case .tooLarge(let bytes, let limit): "a PDU of \(bytes) bytes exceeds the limit of \(limit)"
    case .failed(_, let reason): reason
    }
  }
}

extension Link {
  /// The default: no parameter is known.
  public var facts: LinkFacts { LinkFacts() }

  /// The default: every PDU is sent with `send`.
  public func offer(_ pdu: [UInt8]) throws(LinkLoss) -> Bool { false }

  /// The default: the link is not encrypted, and its security cannot be raised.
  public var security: AttributeSecurity { [] }

  public func raiseSecurity(to wanted: AttributeSecurity) async throws(SecurityFault) {
    throw .unsupported
  }
}
