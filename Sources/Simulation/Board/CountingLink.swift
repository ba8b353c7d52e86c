import OtaflashATT
import OtaflashGATT

/// The board's end of a connection, with counters.
final class CountingLink: Link {
  /// The counters over all connections.
  struct Traffic: Hashable, Sendable {
    /// The number of PDUs in both directions together.
    var pdus = 0
    /// The number of data writes of the host.
    var dataWrites = 0
    var dataBytes = 0
  }

  private static let writeHeaderBytes = 3

  private let base: any Link
  private let dataPath: DataPath
  private let traffic: Shared<Traffic>
  private let note: @Sendable (Traffic) -> Void

  /// - Parameters:
  ///   - traffic: the counters, which persist over connections.
  ///   - note: called with the counters after each PDU from the host.
  init(
    _ base: any Link, dataPath: DataPath, traffic: Shared<Traffic>,
    note: @escaping @Sendable (Traffic) -> Void
  ) {
    (self.base, self.dataPath, self.traffic, self.note) = (base, dataPath, traffic, note)
  }

  var maximumPDUSize: Int { base.maximumPDUSize }

  var security: AttributeSecurity { base.security }

  func send(_ pdu: [UInt8]) async throws(LinkLoss) {
    traffic.withLock { $0.pdus += 1 }
    try await base.send(pdu)
  }

  func receive() async throws(LinkLoss) -> [UInt8] {
    let pdu = try await base.receive()
    let counts = traffic.withLock { traffic in
      traffic.pdus += 1
      count(pdu, in: &traffic)
      return traffic
    }
    note(counts)
    return pdu
  }

  func close() { base.close() }

  /// Counts a data write: Write Request 0x12 or Write Command 0x52 (Core 5.4, Vol 3, Part F,
  /// 3.4.5).
  private func count(_ pdu: [UInt8], in traffic: inout Traffic) {
    guard pdu.count >= Self.writeHeaderBytes, pdu[0] == 0x12 || pdu[0] == 0x52,
      UInt16(pdu[1]) | UInt16(pdu[2]) << 8 == dataPath.handle?.rawValue
    else { return }
    traffic.dataWrites += 1
    traffic.dataBytes += max(0, pdu.count - Self.writeHeaderBytes - dataPath.overheadBytes)
  }
}
