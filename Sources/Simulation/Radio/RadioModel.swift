import OtaflashATT

/// The parameters of a simulated connection and the arithmetic of its link layer. Pure: packets and
/// bytes in, microseconds out.
public struct RadioModel: Hashable, Sendable {
  /// When the peripheral's host is heard that answers to what arrived in an event.
  public enum ResponseEvent: String, CaseIterable, Sendable {
    /// In the same connection event, which stays open for it.
    case same
    /// In the next connection event, as most stacks do.
    case next
  }

  /// The L2CAP basic header: length and channel (Core 5.4, Vol 3, Part A, 3.1).
  static let l2capHeaderBytes = 4
  /// Opcode and handle before the value of a write or notification.
  static let attWriteHeaderBytes = 3

  /// Of both directions.
  public var phy = PHY.le2M
  /// The largest link-layer payload, 27 (no data length extension)…251 bytes.
  public var payloadMaximum = 251
  /// Each packet carries an integrity check of four bytes.
  public var isEncrypted = false
  /// The time between two connection events.
  public var interval = ConnectionInterval.milliseconds15
  /// Silence after which a side gives the link up; the default is that of Linux.
  public var supervisionTimeout: Duration = .milliseconds(420)
  /// An upper bound on the length of an event, below the interval; `nil` = the interval.
  public var eventLengthLimitMicroseconds: Int?
  /// An upper bound on the packet pairs of one event; `nil` = as many as fit.
  public var packetPairsPerEventLimit: Int?
  /// The time before the next anchor in which nothing is sent any more.
  public var endOfEventReserveMicroseconds = 150
  /// The probability that one of a pair of packets arrives with a wrong CRC, 0…1.
  public var packetErrorRate = 0.0
  /// Packets with a wrong CRC that a side receives in a row before it closes the event: 2 by the
  /// specification (Core 5.4, Vol 6, Part B, 4.5.6); some controllers close it at the first.
  public var errorsClosingEvent = 2
  /// When a device answers a request.
  public var responseEvent = ResponseEvent.next
  /// Packets that a side's controller holds; its host refills it between events. `nil` = enough.
  public var controllerBuffers: Int?
  /// Bytes of L2CAP PDUs that a side's host queues before `send` waits. The default is what a
  /// kernel socket with a send buffer of 32 KiB holds (about 1,280 are charged a fragment).
  public var hostQueueBytes = 12_288

  /// A radio with the defaults above.
  public init() {}

  func airTimeMicroseconds(payload: Int) -> Int {
    phy.airTimeMicroseconds(payload: payload, encrypted: isEncrypted)
  }

  /// The time of a packet each way, from the start of the first to the end of the second. The next
  /// pair may begin one interframe space later.
  package func pairMicroseconds(central: Int, peripheral: Int) -> Int {
    airTimeMicroseconds(payload: central) + PHY.interframeSpaceMicroseconds
      + airTimeMicroseconds(payload: peripheral)
  }

  /// The link-layer payloads that carry an ATT PDU with its L2CAP header.
  package func fragments(ofPDU bytes: Int) -> [Int] {
    var rest = bytes + Self.l2capHeaderBytes
    var fragments: [Int] = []
    while rest > 0 {
      fragments.append(min(rest, payloadMaximum))
      rest -= payloadMaximum
    }
    return fragments
  }

  /// The time from an anchor to the moment at which the last packet of the event must have ended.
  var usableEventMicroseconds: Int {
    min(
      interval.microseconds - endOfEventReserveMicroseconds,
      eventLengthLimitMicroseconds ?? .max)
  }

  /// The most packet pairs of one direction's data that the limits on counts allow in an event.
  var pairsPerEventMaximum: Int {
    min(packetPairsPerEventLimit ?? .max, controllerBuffers ?? .max)
  }
}

/// Why a radio model describes no link that can work.
#if hasAttribute(nonexhaustive)
@nonexhaustive
#endif
public enum RadioModelFault: Error, Equatable, Sendable {
  /// A packet carries 27...251 bytes (Core 5.4, Vol 6, Part B, 4.5.10).
  case payloadOutOfRange(bytes: Int)
  /// The largest packet and its acknowledgement take longer than an event may last, so a full PDU
  /// would never cross.
  case packetLongerThanEvent(packetMicroseconds: Int, eventMicroseconds: Int)
  /// A share is 0...1.
  case packetErrorRateOutOfRange
  /// A count of packets, buffers or events that must be 1 or more.
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
  /// Checks that every PDU can cross the link sooner or later.
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
