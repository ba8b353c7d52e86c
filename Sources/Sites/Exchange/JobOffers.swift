#if Sites
import FoundationEssentials
import OtaflashFleet
import OtaflashNATS
import Synchronization

/// An offer in the stream `FLASH`, which states that the entry of a device has a waiting job.
struct JobOffer: Hashable, Sendable, Codable {
  /// The revision of the entry. If a replica returns an older entry, the worker reads the entry
  /// again later.
  let revision: UInt64

  init(revision: UInt64) { self.revision = revision }

  init?(_ payload: [UInt8]) {
    do { self = try JSONDecoder().decode(JobOffer.self, from: Data(payload)) } catch { return nil }
  }

  var bytes: [UInt8] {
    do { return Array(try JSONEncoder().encode(self)) } catch {
      preconditionFailure("an offer cannot be encoded: \(error)")
    }
  }
}

/// Publishes the offers of the coordinator. An offer that was lost is published again by
/// `restoreLost`.
final class JobOffers: Sendable {
  private let stream: JetStream
  private let consumers = Mutex<Set<String>>([])

  init(_ stream: JetStream) { self.stream = stream }

  /// Publishes an offer after the existing offers. An existing offer of the device is replaced if
  /// its revision is earlier, because a worker may be about to remove this offer.
  func publish(_ key: String, revision: UInt64) async throws(NATSFault) {
    try await createConsumer(of: key)
    let message = NATSMessage(
      subject: SiteLayout.offer(key), payload: JobOffer(revision: revision).bytes)
    do throws(NATSFault) {
      try await stream.publish(message)
    } catch {
      guard case .refused(let refusal) = error, refusal.number == JetStreamRefusal.notStored else {
        throw error
      }
      guard
        let former = try await stream.lastMessage(
          in: SiteLayout.offers, of: SiteLayout.offer(key))
      else { return try await publishOnce(message) }
      if let offer = JobOffer(former.payload), offer.revision >= revision { return }
      _ = try await stream.deleteMessage(in: SiteLayout.offers, sequence: former.sequence)
      try await publishOnce(message)
    }
  }

  /// Publishes an offer. If the server refuses the message, another offer of the device exists,
  /// which is sufficient.
  private func publishOnce(_ message: NATSMessage) async throws(NATSFault) {
    do throws(NATSFault) { try await stream.publish(message) } catch {
      guard case .refused(let refusal) = error, refusal.number == JetStreamRefusal.notStored else {
        throw error
      }
    }
  }

  /// Publishes the missing offers. An offer is missing if a server lost it, or if a worker removed
  /// the offer without claiming the job.
  func restoreLost(_ waiting: [(key: String, revision: UInt64)]) async throws(NATSFault) {
    guard !waiting.isEmpty else { return }
    let present = try await stream.messages(in: SiteLayout.offers, matching: SiteLayout.offer(">"))
    for (key, revision) in waiting where present[SiteLayout.offer(key)] == nil {
      try await publish(key, revision: revision)
    }
  }

  private func createConsumer(of key: String) async throws(NATSFault) {
    guard let site = key.split(separator: ".").first.map(String.init),
      !consumers.withLock({ $0.contains(site) })
    else { return }
    try await stream.createConsumer(
      SiteLayout.consumer(named: site), of: SiteLayout.offers)
    consumers.withLock { _ = $0.insert(site) }
  }
}

extension SiteLayout {
  /// Returns the configuration of the consumer of a site's offers.
  ///
  /// - Parameter name: the token of the site.
  static func consumer(named name: String) -> ConsumerConfiguration {
    ConsumerConfiguration(
      name: name, filter: "flash.job.\(name).>",
      acknowledgementLimit: SiteStreams.acknowledgementLimit,
      openMaximum: SiteStreams.openMaximum)
  }
}
#endif
