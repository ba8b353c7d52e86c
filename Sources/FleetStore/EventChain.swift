#if Fleet
import Crypto

/// The chain of SHA-256 hashes over the events of a run. Every change, removal or insertion of an
/// event changes the last hash, which reports contain.
///
/// `hash(0) = SHA-256(run id)`, and `hash(n) = SHA-256(hash(n − 1) ‖ n ‖ at ‖ payload)`, with the
/// number and the time in milliseconds as 8 bytes each, big-endian.
package enum EventChain {
  package static func start(of run: String) -> [UInt8] { Array(SHA256.hash(data: Array(run.utf8))) }

  package static func link(
    after former: [UInt8], number: Int, at milliseconds: Int64, payload: String
  ) -> [UInt8] {
    var hash = SHA256()
    hash.update(data: former)
    hash.update(data: bytes(UInt64(number)))
    hash.update(data: bytes(UInt64(bitPattern: milliseconds)))
    hash.update(data: Array(payload.utf8))
    return Array(hash.finalize())
  }

  private static func bytes(_ value: UInt64) -> [UInt8] {
    (0..<8).reversed().map { UInt8(truncatingIfNeeded: value >> ($0 * 8)) }
  }
}

/// The result of verifying a chain.
package enum ChainVerdict: Hashable, Sendable {
  /// All events are unchanged; `head` is the hash of the last event.
  case intact(events: Int, head: [UInt8])
  /// The first changed event.
  case changed(event: Int)
  /// Events are missing at the end.
  case cut(found: Int, recorded: Int)
}
#endif
