import OtaflashATT
import OtaflashGATT
import Synchronization

/// The link between a host and the device that serves it. It records whether the host ended the
/// link, because a host may connect again before the device has processed the end of this link.
package final class HostLink: Link {
  private let link: any Link
  private let isEnded = Atomic(false)

  package init(_ link: any Link) { self.link = link }

  /// Whether an operation on the link reported that the host ended the radio link, or that the
  /// supervision timeout expired. `close()` does not end the radio link.
  package var isEndedByHost: Bool { isEnded.load(ordering: .relaxed) }

  package var maximumPDUSize: Int { link.maximumPDUSize }

  package var facts: LinkFacts { link.facts }

  package var security: AttributeSecurity { link.security }

  package func raiseSecurity(to wanted: AttributeSecurity) async throws(SecurityFault) {
    try await link.raiseSecurity(to: wanted)
  }

  package func send(_ pdu: [UInt8]) async throws(LinkLoss) {
    do throws(LinkLoss) { try await link.send(pdu) } catch { throw noted(error) }
  }

  package func offer(_ pdu: [UInt8]) throws(LinkLoss) -> Bool {
    do throws(LinkLoss) { return try link.offer(pdu) } catch { throw noted(error) }
  }

  package func receive() async throws(LinkLoss) -> [UInt8] {
    do throws(LinkLoss) { return try await link.receive() } catch { throw noted(error) }
  }

  package func close() { link.close() }

  private func noted(_ loss: LinkLoss) -> LinkLoss {
    switch loss {
    case .closedByPeer, .supervisionTimeout: isEnded.store(true, ordering: .relaxed)
    case .closedLocally, .cancelled, .keysRefused, .tooLarge, .failed: break
    }
    return loss
  }
}
