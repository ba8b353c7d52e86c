/// A transport for whole ATT PDUs in both directions: the kernel's L2CAP channel on CID 4, a Unix
/// SEQPACKET socket, or the simulated radio.
///
/// Message boundaries are kept and order is kept. `send` and `receive` may be used at the same
/// time; each of them by one task at a time.
public protocol Link: AnyObject, Sendable {
  /// The largest PDU the transport takes, in bytes (672 on a kernel L2CAP socket).
  var maximumPDUSize: Int { get }

  /// What is known of the air below, now.
  var facts: LinkFacts { get }

  /// What the link offers now.
  var security: AttributeSecurity { get }

  /// Raises the security, by the keys of an earlier pairing or by pairing now, and waits until the
  /// link carries PDUs again. Nothing may be sent meanwhile. The link may be lost by it.
  func raiseSecurity(to wanted: AttributeSecurity) async throws(SecurityFault)

  /// Hands one PDU to the transport. Suspends while the transport's queue is full (back-pressure),
  /// and returns when the PDU was accepted, which is before it has crossed the air.
  func send(_ pdu: [UInt8]) async throws(LinkLoss)

  /// Hands over one PDU if the transport takes it at once; `false` = nothing was sent, and only
  /// `send` can tell when there is room. Counts as a `send` for what may be used at the same time.
  func offer(_ pdu: [UInt8]) throws(LinkLoss) -> Bool

  /// The next PDU from the peer. What the peer sent before the link ended is still delivered
  /// before the loss is thrown. Once thrown, the loss is thrown again by every later call.
  func receive() async throws(LinkLoss) -> [UInt8]

  /// Ends the link. Every pending and every later wait fails with `.closedLocally`. Safe to call
  /// twice and from any task.
  func close()
}

/// Why a link no longer carries PDUs.
#if hasAttribute(nonexhaustive)
@nonexhaustive
#endif
public enum LinkLoss: Error, Equatable, Hashable, Sendable {
  /// The peer ended the link (HCI reason 0x13, 0x14, 0x15; end of file on a Unix socket).
  case closedByPeer
  /// This side called `close()`.
  case closedLocally
  /// Nothing was heard for the supervision timeout (HCI reason 0x08).
  case supervisionTimeout
  /// The waiting task was cancelled; the link itself may still stand.
  case cancelled
  /// The keys of an earlier pairing were refused (HCI reasons 0x05 and 0x06): one of the devices no
  /// longer has them. Another connection ends the same way.
  case keysRefused
  /// A PDU did not fit the transport; nothing was sent.
  case tooLarge(bytes: Int, limit: Int)
  /// The transport failed. `reason` is a whole sentence with cause and remedy.
  case failed(errno: Int32, reason: String)
}

extension LinkLoss: CustomStringConvertible {
  /// A clause for people: "the link ended: …".
  public var description: String {
    switch self {
    case .closedByPeer: "the device ended the connection"
    case .closedLocally: "the connection was closed from this side"
    case .supervisionTimeout: "the device was not heard any more (supervision timeout)"
    case .cancelled: "the wait was cancelled"
    case .keysRefused: "the device no longer has the keys of the pairing"
    case .tooLarge(let bytes, let limit): "a PDU of \(bytes) bytes; the link takes \(limit)"
    case .failed(_, let reason): reason
    }
  }
}

extension Link {
  /// By default nothing is known.
  public var facts: LinkFacts { LinkFacts() }

  /// By default every PDU goes through `send`.
  public func offer(_ pdu: [UInt8]) throws(LinkLoss) -> Bool { false }

  /// By default a link is open to everybody, and stays so.
  public var security: AttributeSecurity { [] }

  public func raiseSecurity(to wanted: AttributeSecurity) async throws(SecurityFault) {
    throw .unsupported
  }
}
