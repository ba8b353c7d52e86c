import OtaflashATT

/// The parameters of a simulated connection and the arithmetic of its link layer, without side
/// effects: the inputs are packets and bytes, the results are microseconds.
public struct RadioModel: Hashable, Sendable {
  /// The connection event in which a peripheral's response is sent.
  public enum ResponseEvent: String, CaseIterable, Sendable {
    /// In the same connection event, which stays open for the response.
    case same
    /// In the next connection event, as in most stacks.
    case next
  }

  /// The size of the L2CAP basic header: length and channel (Core 5.4, Vol 3, Part A, 3.1).
  static let l2capHeaderBytes = 4
  /// The size of opcode and handle before the value of a write or notification.
  static let attWriteHeaderBytes = 3

  /// The PHY of both directions.
  public var phy = PHY.le2M
  /// The largest link-layer payload, 27 (no data length extension)…251 bytes.
  public var payloadMaximum = 251
  /// Whether each packet with a payload carries a message integrity check of four bytes.
  public var isEncrypted = false
  /// The time between two connection events.
  public var interval = ConnectionInterval.milliseconds15
  /// The time without a packet after which a side ends the link; the default is the default of
  /// Linux.
  public var supervisionTimeout: Duration = .milliseconds(420)
  /// An upper bound on the length of an event, below the interval; `nil` = the interval.
  public var eventLengthLimitMicroseconds: Int?
  /// An upper bound on the packet pairs of one event; `nil` = as many as fit.
  public var packetPairsPerEventLimit: Int?
  /// The time before the next anchor in which no packet is sent.
  public var endOfEventReserveMicroseconds = 150
  /// The probability that one packet of a pair arrives with a wrong CRC, 0…1.
  public var packetErrorRate = 0.0
  /// The number of consecutive packets with a wrong CRC after which a side closes the event. The
  /// specification requires 2 (Core 5.4, Vol 6, Part B, 4.5.6); some controllers close the event
  /// after the first packet.
  public var errorsClosingEvent = 2
  /// The connection event in which a device answers a request.
  public var responseEvent = ResponseEvent.next
  /// The number of packets that a side's controller holds. The host refills the controller between
  /// events. `nil` = unlimited.
  public var controllerBuffers: Int?
  /// The number of bytes in L2CAP PDUs that a side's host queues before `send` waits. The default
  /// is the capacity of a kernel socket with a send buffer of 32 KiB (about 1,280 bytes are charged
  /// per fragment).
  public var hostQueueBytes = 12_288

  /// Creates a radio model with the default values.
  public init() {}

  func airTimeMicroseconds(payload: Int) -> Int {
    phy.airTimeMicroseconds(payload: payload, encrypted: isEncrypted)
  }

  /// Returns the time of a packet pair, from the start of the first packet to the end of the
  /// second. The next pair may start one interframe space later.
  package func pairMicroseconds(central: Int, peripheral: Int) -> Int {
    airTimeMicroseconds(payload: central) + PHY.interframeSpaceMicroseconds
      + airTimeMicroseconds(payload: peripheral)
  }

  /// Returns the sizes in bytes of the link-layer payloads that carry an ATT PDU of `bytes` bytes
  /// with its L2CAP header.
  package func fragments(ofPDU bytes: Int) -> [Int] {
    var rest = bytes + Self.l2capHeaderBytes
    var fragments: [Int] = []
    while rest > 0 {
      fragments.append(min(rest, payloadMaximum))
      rest -= payloadMaximum
    }
    return fragments
  }

  /// The time from an anchor to the latest end of the event's last packet.
  var usableEventMicroseconds: Int {
    min(
      interval.microseconds - endOfEventReserveMicroseconds,
      eventLengthLimitMicroseconds ?? .max)
  }

  /// The maximum number of packet pairs per event by the counts of the model, regardless of the
  /// duration of the event.
  var pairsPerEventMaximum: Int {
    min(packetPairsPerEventLimit ?? .max, controllerBuffers ?? .max)
  }
}

/// The reason why a radio model describes no working link.
#if hasAttribute(nonexhaustive)
@nonexhaustive
#endif
public enum RadioModelFault: Error, Equatable, Sendable {
  /// The packet size is outside 27...251 bytes (Core 5.4, Vol 6, Part B, 4.5.10).
  case payloadOutOfRange(bytes: Int)
  /// The largest packet and its acknowledgement take longer than an event may last, so that a full
  /// PDU would never be delivered.
  case packetLongerThanEvent(packetMicroseconds: Int, eventMicroseconds: Int)
  /// A share is outside 0...1.
  case packetErrorRateOutOfRange
  /// A count of packets, buffers, CRC errors or bytes is less than 1.
  case countNotPositive(name: String)
}

extension RadioModelFault: CustomStringConvertible {
  public var description: String {
    switch self {
    case .payloadOutOfRange(let bytes): "a packet carries 27 to 251 bytes, not \(bytes)"
    case .packetLongerThanEvent(let packet, let event):
      "a full packet and its acknowledgement take \(packet) µs, a connection event lasts \(event)"
    case .packetErrorRateOutOfRange: "the share of lost packets is 0 to 1"
    case .countNotPositive(let name): "\(name) is 1 or more"
    }
  }
}

extension RadioModel {
  /// Checks the ranges of the values, and that the largest packet and its acknowledgement fit into
  /// a connection event.
  public func validate() throws(RadioModelFault) {
    guard (27...251).contains(payloadMaximum) else {
      throw .payloadOutOfRange(bytes: payloadMaximum)
    }
    guard (0...1).contains(packetErrorRate) else { throw .packetErrorRateOutOfRange }
    guard packetPairsPerEventLimit ?? 1 > 0 else {
      throw .countNotPositive(name: "packetPairsPerEventLimit")
    }
    guard controllerBuffers ?? 1 > 0 else { throw .countNotPositive(name: "controllerBuffers") }
    guard errorsClosingEvent > 0 else { throw .countNotPositive(name: "errorsClosingEvent") }
    guard hostQueueBytes > 0 else { throw .countNotPositive(name: "hostQueueBytes") }
    let longest = pairMicroseconds(central: payloadMaximum, peripheral: 0)
    guard longest <= usableEventMicroseconds else {
      throw .packetLongerThanEvent(
        packetMicroseconds: longest, eventMicroseconds: usableEventMicroseconds)
    }
  }
}
