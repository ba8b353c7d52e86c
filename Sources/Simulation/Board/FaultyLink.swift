import OtaflashATT
import OtaflashGATT
import Synchronization

/// The board's end of a connection with the plan's faults between the stack and the radio. It also
/// counts what the board is sent.
final class FaultyLink: Link {
  /// What has crossed the board's stack, over all connections.
  struct Traffic: Hashable, Sendable {
    /// In both directions together.
    var pdus = 0
    /// What the host has written of an image.
    var dataWrites = 0
    var dataOctets = 0
  }

  /// The faults' memory and the counts, which outlive a connection.
  final class History: Sendable {
    let state: Mutex<(filter: FaultFilter, traffic: Traffic)>

    init(filter: FaultFilter) { state = Mutex((filter, Traffic())) }

    var traffic: Traffic { state.withLock { $0.traffic } }
  }

  private static let writeHeaderOctets = 3

  private let base: any Link
  private let program: any BoardProgram
  private let history: History
  private let clock: any LinkClock
  private let note: @Sendable (Traffic) -> Void

  /// - Parameter note: called with the counts after each PDU from the host.
  init(
    _ base: any Link, program: any BoardProgram, history: History,
    clock: any LinkClock, note: @escaping @Sendable (Traffic) -> Void
  ) {
    self.base = base
    self.program = program
    self.history = history
    self.clock = clock
    self.note = note
  }

  var maximumPDUSize: Int { base.maximumPDUSize }

  var security: AttributeSecurity { base.security }

  func send(_ pdu: [UInt8]) async throws(LinkLoss) {
    let altered = decode(pdu).map { program.altered($0).encoded } ?? pdu
    guard !history.state.withLock({ $0.filter.loses(altered) }) else { return }
    let (delay, nonsense) = history.state.withLock {
      $0.traffic.pdus += 1
      return $0.filter.departure()
    }
    if delay > .zero, !(await clock.pause(for: delay)) { throw .cancelled }
    if let nonsense { try await base.send(nonsense) }
    try await base.send(altered)
  }

  func receive() async throws(LinkLoss) -> [UInt8] {
    while true {
      let pdu = try await base.receive()
      let (isHeard, traffic) = history.state.withLock { state in
        state.traffic.pdus += 1
        count(pdu, in: &state.traffic)
        return (state.filter.hears(pdu), state.traffic)
      }
      note(traffic)
      guard isHeard else { continue }
      if let decoded = decode(pdu) { program.received(decoded) }
      return pdu
    }
  }

  private func decode(_ pdu: [UInt8]) -> ATTPDU? {
    do throws(DecodeFault) { return try ATTPDU(decoding: pdu) } catch { return nil }
  }

  func close() { base.close() }

  /// Write Request 0x12 and Write Command 0x52 (Core 5.4, Vol 3, Part F, 3.4.5).
  private func count(_ pdu: [UInt8], in traffic: inout Traffic) {
    guard pdu.count >= Self.writeHeaderOctets, pdu[0] == 0x12 || pdu[0] == 0x52,
      UInt16(pdu[1]) | UInt16(pdu[2]) << 8 == program.dataPath.handle?.rawValue
    else { return }
    traffic.dataWrites += 1
    traffic.dataOctets += max(
      0, pdu.count - Self.writeHeaderOctets - program.dataPath.overheadOctets)
  }
}
