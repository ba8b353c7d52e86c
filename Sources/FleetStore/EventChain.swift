#if Fleet
import Crypto

/// SHA-256 over each event and the one before it: nobody changes, takes out or puts in an event
/// without changing the hash of the last, which a report carries.
///
/// `hash(0) = SHA-256(run id)`, and `hash(n) = SHA-256(hash(n − 1) ‖ n ‖ at ‖ payload)`, with the
/// number and the time in milliseconds as 8 bytes each, the highest first.
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

/// What a look at a whole chain has found.
package enum ChainVerdict: Hashable, Sendable {
  /// Every event is as it was recorded; the hash of the last.
  case intact(events: Int, head: [UInt8])
  /// The first event that is not as it was recorded.
  case changed(event: Int)
  /// Events are missing at the end.
  case cut(found: Int, recorded: Int)
}
#endif
