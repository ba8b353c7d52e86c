import OtaflashATT
import OtaflashGATT
import Synchronization

/// The host's end of a link on which Write Commands are lost, repeated or delayed.
final class AlteringCommands: Link {
  enum Fate: Sendable {
    case sent, lost, repeated
    case delayed(Duration)
  }

  private let base: any Link
  private let clock: any LinkClock
  private let number = Mutex(0)
  private let fate: @Sendable (Int, [UInt8]) -> Fate

  /// - Parameter fate: called with the number of each command of this link, from 1, and its value.
  init(
    _ base: any Link, _ clock: any LinkClock,
    _ fate: @escaping @Sendable (Int, [UInt8]) -> Fate
  ) {
    (self.base, self.clock, self.fate) = (base, clock, fate)
  }

  var maximumPDUSize: Int { base.maximumPDUSize }
  var facts: LinkFacts { base.facts }
  var security: AttributeSecurity { base.security }

  func raiseSecurity(to wanted: AttributeSecurity) async throws(SecurityFault) {
    try await base.raiseSecurity(to: wanted)
  }

  func send(_ pdu: [UInt8]) async throws(LinkLoss) {
    guard pdu.first == ATTOpcode.writeCommand.rawValue else { return try await base.send(pdu) }
    let number = number.withLock { number in
      number += 1
      return number
    }
    switch fate(number, Array(pdu.dropFirst(3))) {
    case .sent: try await base.send(pdu)
    case .lost: return
    case .repeated:
      try await base.send(pdu)
      try await base.send(pdu)
    case .delayed(let time):
      _ = await clock.pause(for: time)
      try await base.send(pdu)
    }
  }

  func receive() async throws(LinkLoss) -> [UInt8] { try await base.receive() }

  func close() { base.close() }
}

/// A condition that is true once, over all connections.
final class Once: Sendable {
  private let isTaken = Mutex(false)

  func take() -> Bool {
    isTaken.withLock { isTaken in
      defer { isTaken = true }
      return !isTaken
    }
  }
}
