import OtaflashATT
import OtaflashFleet
import OtaflashGATT
import Synchronization

/// The time until which a worker may write to the device of a claim, by the worker's own clock,
/// which also advances while the machine is suspended. It is earlier than the end of the lease. If
/// the exchange does not answer, the worker therefore stops before another worker can receive the
/// job.
package final class ClaimDeadline: Sendable {
  /// The lease of a claim.
  static let lease = Duration.seconds(45)
  /// The time after the start of the last successful renewal in which the worker may write.
  static let writing = lease * 2 / 3
  /// The renewal interval, and therefore the maximum time until the worker detects that the job was
  /// cancelled.
  static let renewalInterval = Duration.seconds(5)

  private let elapsed: @Sendable () -> Duration
  private let granted: Mutex<Duration>

  /// - Parameter moment: the time immediately before the call that returned the claim.
  package init(grantedAt moment: Duration, elapsed: @escaping @Sendable () -> Duration) {
    self.elapsed = elapsed
    granted = Mutex(moment)
  }

  /// The time since the start of the last successful renewal.
  private var age: Duration { elapsed() - granted.withLock { $0 } }

  /// The remaining time for writes.
  var remaining: Duration { Self.writing - age }

  var hasPassed: Bool { remaining <= .zero }

  var needsRenewal: Bool { age >= Self.renewalInterval }

  /// - Parameter moment: the time immediately before the call that renewed the claim.
  func renewed(at moment: Duration) { granted.withLock { $0 = max($0, moment) } }

  /// Renews a claim. If the exchange does not answer, the deadline does not change.
  ///
  /// - Throws: `.claimLost`, also if the exchange does not answer and the deadline has passed,
  ///   because another worker may already have the claim.
  func renew(
    _ claim: JobClaim, on exchange: any JobExchange
  ) async throws(ExchangeFault) -> ClaimStanding {
    let moment = elapsed()
    do throws(ExchangeFault) {
      let standing = try await exchange.renew(claim, lease: Self.lease)
      renewed(at: moment)
      return standing
    } catch .claimLost(let job) {
      throw .claimLost(job)
    } catch {
      if hasPassed { throw .claimLost(claim.job.id) }
      return .held
    }
  }
}

/// A link that carries no PDU to the device after the deadline of a claim. The deadline is checked
/// before each PDU, because a process may be suspended between two of them.
package final class ClaimedLink: Link {
  private let link: any Link
  private let deadline: ClaimDeadline

  package init(_ link: any Link, until deadline: ClaimDeadline) {
    self.link = link
    self.deadline = deadline
  }

  package var maximumPDUSize: Int { link.maximumPDUSize }

  package var facts: LinkFacts { link.facts }

  package var security: AttributeSecurity { link.security }

  package func raiseSecurity(to wanted: AttributeSecurity) async throws(SecurityFault) {
    if deadline.hasPassed { link.close() }
    try await link.raiseSecurity(to: wanted)
  }

  package func send(_ pdu: [UInt8]) async throws(LinkLoss) {
    try check()
    try await link.send(pdu)
  }

  package func offer(_ pdu: [UInt8]) throws(LinkLoss) -> Bool {
    try check()
    return try link.offer(pdu)
  }

  package func receive() async throws(LinkLoss) -> [UInt8] { try await link.receive() }

  package func close() { link.close() }

  private func check() throws(LinkLoss) {
    guard deadline.hasPassed else { return }
    link.close()
    throw .closedLocally
  }
}
