import OtaflashATT
import OtaflashGATT

/// A side of a connection.
enum ConnectionRole: Sendable {
  case central, peripheral

  var peer: ConnectionRole { self == .central ? .peripheral : .central }
}

/// The link layer of a connection without its clock: queues, packet pairs, losses and the ways in
/// which a link ends.
struct ConnectionState {
  /// The maximum number of received PDUs that wait for the host. If it is reached, the link layer
  /// accepts no packets.
  static let receivedMaximum = 64

  /// The next task of the radio.
  enum Situation {
    case idle
    case dataWaits
    /// One side has closed the link; the other detects it at the next anchor.
    case closing
    /// The time since which nothing has been received.
    case silent(since: LinkInstant)
    case over
  }

  /// The payload sizes of the two packets of an exchange in bytes (`nil` = an empty packet),
  /// whether a side has more data to send, and the duration.
  struct PacketPair {
    let central: Int?
    let peripheral: Int?
    let moreData: Bool
    let microseconds: Int
  }

  enum Reception {
    case pdu([UInt8])
    case lost(LinkLoss)
    case nothing
  }

  enum Submission {
    case accepted
    case full
    case lost(LinkLoss)
  }

  private struct Side {
    var outgoing: FragmentLane
    var received: [[UInt8]] = []
    var loss: LinkLoss?
  }

  private var model: RadioModel
  private var random: SeededRandom
  private var central: Side
  private var peripheral: Side
  private var eventsBegun = 0
  private var silentSince: LinkInstant?
  private var failingSince: LinkInstant?
  /// The number of consecutive packets with a wrong CRC in this event, for each receiving side.
  private var wrongInARow = (central: 0, peripheral: 0)
  private var pdusUntilCut: Int?
  private(set) var pdusDelivered = 0

  init(model: RadioModel, random: SeededRandom, cutAfterPDUs: Int?) {
    self.model = model
    self.random = random
    pdusUntilCut = cutAfterPDUs
    central = Side(outgoing: Self.lane(model, continuesStreams: true))
    peripheral = Side(outgoing: Self.lane(model, continuesStreams: false))
  }
}

extension ConnectionState {
  private static func lane(_ model: RadioModel, continuesStreams: Bool) -> FragmentLane {
    FragmentLane(
      payloadMaximum: model.payloadMaximum, bytesMaximum: model.hostQueueBytes,
      continuesStreams: continuesStreams)
  }
}

// MARK: - The hosts' sides

extension ConnectionState {
  private subscript(role: ConnectionRole) -> Side {
    get { role == .central ? central : peripheral }
    set { if role == .central { central = newValue } else { peripheral = newValue } }
    _modify { if role == .central { yield &central } else { yield &peripheral } }
  }

  mutating func submit(_ pdu: [UInt8], from role: ConnectionRole) -> Submission {
    if let loss = self[role].loss { return .lost(loss) }
    return self[role].outgoing.enqueue(pdu, duringEvent: eventsBegun) ? .accepted : .full
  }

  mutating func takeReceived(by role: ConnectionRole) -> Reception {
    if !self[role].received.isEmpty, self[role].loss != .closedLocally {
      return .pdu(self[role].received.removeFirst())
    }
    if let loss = self[role].loss { return .lost(loss) }
    return .nothing
  }

  /// Ends the link for one side; a later reason does not replace the first reason.
  mutating func end(_ role: ConnectionRole, with loss: LinkLoss) {
    guard self[role].loss == nil else { return }
    self[role].loss = loss
    self[role].outgoing.removeAll()
  }

  mutating func fallSilent(at now: LinkInstant) { silentSince = silentSince ?? now }

  var situation: Situation {
    if central.loss != nil && peripheral.loss != nil { return .over }
    if let silentSince { return .silent(since: silentSince) }
    if central.loss != nil || peripheral.loss != nil { return .closing }
    return central.outgoing.isEmpty && peripheral.outgoing.isEmpty ? .idle : .dataWaits
  }
}

// MARK: - Connection events

extension ConnectionState {
  /// Adds an integrity check to each further packet with a payload.
  mutating func encrypt() { model.isEncrypted = true }

  mutating func beginEvent() {
    eventsBegun += 1
    wrongInARow = (0, 0)
  }

  /// Returns the next packet pair of the event; `nil` if the event ends, because nothing is to be
  /// sent, no pair fits, the event has its maximum number of pairs, or the radio has stopped.
  ///
  /// - Parameters:
  ///   - pairs: the number of packet pairs so far in this event.
  ///   - pairsMaximum: the maximum number of packet pairs of an event.
  func nextPair(elapsedMicroseconds: Int, pairs: Int, pairsMaximum: Int) -> PacketPair? {
    guard silentSince == nil, pairs < pairsMaximum else { return nil }
    let before = model.responseEvent == .next ? eventsBegun : nil
    let fromCentral =
      hasRoom(.peripheral) ? central.outgoing.nextPayload(writtenBefore: eventsBegun) : nil
    let fromPeripheral =
      hasRoom(.central) ? peripheral.outgoing.nextPayload(writtenBefore: before) : nil
    // If packets of both sides do not fit together, the sides send in alternate events.
    var choices = [(fromCentral, fromPeripheral), (fromCentral, nil), (nil, fromPeripheral)]
    if !eventsBegun.isMultiple(of: 2) { choices.swapAt(1, 2) }
    for (first, second) in choices where first != nil || second != nil {
      let microseconds = model.pairMicroseconds(central: first ?? 0, peripheral: second ?? 0)
      guard elapsedMicroseconds + microseconds <= model.usableEventMicroseconds else { continue }
      let moreData =
        central.outgoing.hasMoreData(writtenBefore: eventsBegun)
        || peripheral.outgoing.hasMoreData(writtenBefore: before)
        || first != fromCentral || second != fromPeripheral
      return PacketPair(
        central: first, peripheral: second, moreData: moreData, microseconds: microseconds)
    }
    return nil
  }

  private func hasRoom(_ role: ConnectionRole) -> Bool {
    self[role].received.count < Self.receivedMaximum
  }

  /// Handles the end of a pair. Returns whether the event continues.
  mutating func complete(_ pair: PacketPair, at now: LinkInstant) -> Bool {
    guard silentSince == nil, !hasFailed(at: now) else { return false }
    // Either packet of a lost pair may have the wrong CRC.
    let isLost = random.happens(withProbability: model.packetErrorRate)
    let isCentralsLost = isLost && random.happens(withProbability: 0.5)
    guard !isCentralsLost else { return packetWasLost(by: .peripheral, at: now) }
    let peripheralGotPDU = pair.central != nil && deliver(from: .central, at: now)
    wrongInARow.peripheral = 0
    guard !isLost else { return packetWasLost(by: .central, at: now) }
    wrongInARow.central = 0
    failingSince = nil
    if pair.central != nil { central.outgoing.acknowledge() }
    if pair.peripheral != nil {
      _ = deliver(from: .peripheral, at: now)
      peripheral.outgoing.acknowledge()
    }
    return pair.moreData || (peripheralGotPDU && model.responseEvent == .same)
  }

  /// Handles a packet with a wrong CRC. Returns whether the event continues, so that the packet is
  /// repeated immediately. The event ends when a side has received too many such packets in a row.
  private mutating func packetWasLost(by receiver: ConnectionRole, at now: LinkInstant) -> Bool {
    failingSince = failingSince ?? now
    switch receiver {
    case .central: wrongInARow.central += 1
    case .peripheral: wrongInARow.peripheral += 1
    }
    return max(wrongInARow.central, wrongInARow.peripheral) < model.errorsClosingEvent
  }

  /// Returns whether all packets were lost for the complete supervision timeout; if so, ends the
  /// link for both sides.
  private mutating func hasFailed(at now: LinkInstant) -> Bool {
    guard let failingSince, failingSince.duration(to: now) >= model.supervisionTimeout else {
      return false
    }
    end(.central, with: .supervisionTimeout)
    end(.peripheral, with: .supervisionTimeout)
    return true
  }

  /// Delivers the next fragment; returns whether it completed a PDU.
  private mutating func deliver(from role: ConnectionRole, at now: LinkInstant) -> Bool {
    guard silentSince == nil, let pdu = self[role].outgoing.arrive() else { return false }
    self[role.peer].received.append(pdu)
    pdusDelivered += 1
    if let pdusUntilCut, pdusDelivered >= pdusUntilCut { fallSilent(at: now) }
    return true
  }
}
