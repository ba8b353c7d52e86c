import OtaflashATT
import OtaflashGATT
import OtaflashSimulation
import Synchronization

/// The PDUs of a run that are lost between a stack and its application. Bit i of a mask stands for
/// the i-th PDU of its kind after the first `skipped` PDUs, counted over all connections.
public struct PDULosses: Hashable, Sendable {
  /// The mask of the lost Write Commands of the host.
  public var commands: UInt32 = 0
  public var commandsSkipped = 0
  /// The mask of the lost notifications of the device.
  public var notifications: UInt32 = 0
  public var notificationsSkipped = 0

  public init() {}

  /// - Parameter likelihood: the probability, 0 to 1, that PDUs of a kind are lost.
  init(drawnFrom random: inout SeededRandom, likelihood: Double) {
    if random.happens(withProbability: likelihood) {
      commands = UInt32(truncatingIfNeeded: random.next() & random.next())
      commandsSkipped = Int.random(in: 0...60, using: &random)
    }
    if random.happens(withProbability: likelihood) {
      notifications = UInt32(truncatingIfNeeded: random.next() & random.next())
      notificationsSkipped = Int.random(in: 0...20, using: &random)
    }
  }

  public var isEmpty: Bool { commands == 0 && notifications == 0 }
}

/// Counts the PDUs of a run, and selects the lost PDUs.
final class LossCounter: Sendable {
  private let losses: PDULosses
  private let seen = Mutex((commands: 0, notifications: 0))

  init(_ losses: PDULosses) { self.losses = losses }

  func losesSent(_ pdu: [UInt8]) -> Bool {
    guard pdu.first == ATTOpcode.writeCommand.rawValue else { return false }
    let number = seen.withLock { state in
      defer { state.commands += 1 }
      return state.commands - losses.commandsSkipped
    }
    return Self.has(losses.commands, bit: number)
  }

  func losesReceived(_ pdu: [UInt8]) -> Bool {
    guard pdu.first == ATTOpcode.handleValueNotification.rawValue else { return false }
    let number = seen.withLock { state in
      defer { state.notifications += 1 }
      return state.notifications - losses.notificationsSkipped
    }
    return Self.has(losses.notifications, bit: number)
  }

  private static func has(_ mask: UInt32, bit: Int) -> Bool {
    (0..<UInt32.bitWidth).contains(bit) && mask & (1 << UInt32(bit)) != 0
  }
}

/// The host's end of a connection that loses the selected PDUs.
final class LossyLink: Link {
  private let base: any Link
  private let counter: LossCounter

  init(_ base: any Link, _ counter: LossCounter) {
    self.base = base
    self.counter = counter
  }

  var maximumPDUSize: Int { base.maximumPDUSize }
  var facts: LinkFacts { base.facts }
  var security: AttributeSecurity { base.security }

  func raiseSecurity(to wanted: AttributeSecurity) async throws(SecurityFault) {
    try await base.raiseSecurity(to: wanted)
  }

  func send(_ pdu: [UInt8]) async throws(LinkLoss) {
    if counter.losesSent(pdu) { return }
    try await base.send(pdu)
  }

  func receive() async throws(LinkLoss) -> [UInt8] {
    while true {
      let pdu = try await base.receive()
      if !counter.losesReceived(pdu) { return pdu }
    }
  }

  func close() { base.close() }
}
