import OtaflashATT
import OtaflashGATT
import Synchronization

/// The alteration of the PDUs that a host receives, over all its connections.
final class AlterationScript: Sendable {
  private let steps: Mutex<ArraySlice<[UInt8]>>

  /// - Parameter steps: one per altered PDU: the first byte states the number of PDUs before it and
  ///   the kind of alteration, the others are its data. An empty step leaves a PDU unchanged.
  init(_ steps: [[UInt8]]) { self.steps = Mutex(steps[...]) }

  /// The PDUs in place of `pdu`; `nil` if the link ends instead.
  func altered(_ pdu: [UInt8]) -> [[UInt8]]? {
    let step = steps.withLock { steps -> [UInt8]? in
      guard let first = steps.first, let head = first.first else {
        _ = steps.popFirst()
        return nil
      }
      guard head < 8 else {
        steps[steps.startIndex][0] -= 8
        return nil
      }
      return steps.popFirst()
    }
    guard let step else { return [pdu] }
    return Self.altered(pdu, step[0], Array(step.dropFirst()))
  }

  private static func altered(_ pdu: [UInt8], _ kind: UInt8, _ bytes: [UInt8]) -> [[UInt8]]? {
    let header = Array(pdu.prefix(headerSize(of: pdu)))
    switch kind {
    case 0: return [header + bytes]
    case 1: return [overwritten(pdu, from: header.count, bytes)]
    case 2: return [Array(pdu.prefix(Int(bytes.first ?? 0)))]
    case 3: return []
    case 4: return [pdu, pdu]
    case 5: return [pdu, header + bytes]
    case 6: return [bytes]
    default: return nil
    }
  }

  /// The first byte is the offset in the value at which the others are written.
  private static func overwritten(
    _ pdu: [UInt8], from start: Int, _ bytes: [UInt8]
  ) -> [UInt8] {
    var pdu = pdu
    for (index, byte) in bytes.dropFirst().enumerated() {
      let position = start + Int(bytes[0]) + index
      guard position < pdu.count else { break }
      pdu[position] = byte
    }
    return pdu
  }

  /// The size of opcode and handle of a notification or indication; of the opcode of other PDUs.
  private static func headerSize(of pdu: [UInt8]) -> Int {
    pdu.first == 0x1B || pdu.first == 0x1D ? 3 : 1
  }
}

/// A host's link to a device whose PDUs are altered in transit.
final class AlteringLink: Link {
  private let link: any Link
  private let script: AlterationScript
  private let waiting = Mutex<ArraySlice<[UInt8]>>([])

  init(_ link: any Link, _ script: AlterationScript) {
    self.link = link
    self.script = script
  }

  var maximumPDUSize: Int { link.maximumPDUSize }
  var facts: LinkFacts { link.facts }
  var security: AttributeSecurity { link.security }

  func raiseSecurity(to wanted: AttributeSecurity) async throws(SecurityFault) {
    try await link.raiseSecurity(to: wanted)
  }

  func send(_ pdu: [UInt8]) async throws(LinkLoss) { try await link.send(pdu) }

  func offer(_ pdu: [UInt8]) throws(LinkLoss) -> Bool { try link.offer(pdu) }

  func receive() async throws(LinkLoss) -> [UInt8] {
    while true {
      if let pdu = waiting.withLock({ $0.popFirst() }) { return pdu }
      guard let altered = script.altered(try await link.receive()) else {
        link.close()
        throw .supervisionTimeout
      }
      waiting.withLock { $0 = altered[...] }
    }
  }

  func close() { link.close() }
}
