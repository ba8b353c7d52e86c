/// A packet between a host and its controller, with the type byte of the UART transport (Core 5.4,
/// Vol 4, Part A, 2). A captured link is recorded in this form even if it has no controller,
/// because dissectors read HCI packets.
struct HCIPacket: Equatable, Sendable {
  let bytes: [UInt8]
  /// Whether the packet contains ACL data, not an event.
  let isData: Bool

  private static let data: UInt8 = 0x02
  private static let event: UInt8 = 0x04
  private static let attributeChannel: UInt16 = 0x0004

  private init(event code: UInt8, _ parameters: [UInt8]) {
    bytes = [Self.event, code, UInt8(parameters.count)] + parameters
    isData = false
  }

  /// Returns LE Connection Complete (Vol 4, Part E, 7.7.65.1) as the central receives it. Unknown
  /// parameters of the link are 0. No real link has this interval or this supervision timeout.
  static func connected(
    _ handle: UInt16, to peer: CapturedPeer, _ facts: LinkFacts
  ) -> HCIPacket {
    let (subevent, success, central, accuracy): (UInt8, UInt8, UInt8, UInt8) = (0x01, 0, 0, 0)
    let interval = facts.connectionInterval.map { UInt16(clamping: Int($0 / .microseconds(1250))) }
    let latency = UInt16(clamping: facts.peripheralLatency ?? 0)
    let supervision = facts.supervisionTimeout.map {
      UInt16(clamping: Int($0 / .milliseconds(10)))
    }
    let status: [UInt8] = [subevent, success] + handle.littleEndianBytes
    let address: [UInt8] = [central, peer.isRandom ? 1 : 0] + peer.littleEndian
    let timing: [[UInt8]] = [
      (interval ?? 0).littleEndianBytes, latency.littleEndianBytes,
      (supervision ?? 0).littleEndianBytes, [accuracy],
    ]
    return HCIPacket(event: 0x3E, status + address + Array(timing.joined()))
  }

  /// Returns Disconnection Complete (7.7.5).
  static func disconnected(_ handle: UInt16, because loss: LinkLoss) -> HCIPacket {
    let success: UInt8 = 0
    return HCIPacket(event: 0x05, [success] + handle.littleEndianBytes + [loss.hciReason])
  }

  /// Returns an ATT PDU in one L2CAP frame (Vol 3, Part A, 3.1) in one ACL packet (Vol 4, Part E,
  /// 5.4.2). Without a controller, no buffer size requires fragments.
  static func attribute(
    _ pdu: [UInt8], on handle: UInt16, _ direction: TracingLink.Direction
  ) -> HCIPacket {
    let frame =
      UInt16(clamping: pdu.count).littleEndianBytes + attributeChannel.littleEndianBytes + pdu
    // The first and only packet of a frame; a packet from a host is not automatically flushable.
    let boundary: UInt16 = direction == .received ? 0b10 : 0b00
    let header = (handle | boundary << 12).littleEndianBytes
    return HCIPacket(
      bytes: [data] + header + UInt16(clamping: frame.count).littleEndianBytes + frame,
      isData: true)
  }

  private init(bytes: [UInt8], isData: Bool) {
    self.bytes = bytes
    self.isData = isData
  }
}

extension LinkLoss {
  /// The reason of a disconnection (Core 5.4, Vol 1, Part F, 1.3).
  fileprivate var hciReason: UInt8 {
    switch self {
    case .supervisionTimeout: 0x08
    case .keysRefused: 0x06
    case .closedByPeer: 0x13
    case .closedLocally, .cancelled: 0x16
    case .tooLarge, .failed: 0x1F
    }
  }
}

extension UInt16 {
  fileprivate var littleEndianBytes: [UInt8] {
    [UInt8(truncatingIfNeeded: self), UInt8(self >> 8)]
  }
}
