#if Sites
import FoundationEssentials
import OtaflashFleet
import OtaflashNATS
import Synchronization

/// An offer in the stream `FLASH`: the entry of a device has a waiting job.
struct JobOffer: Hashable, Sendable, Codable {
  /// The revision of the entry. A replica that answers with an older entry is asked again.
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

/// The offers of the coordinator. A lost offer is published again by `restoreLost`.
final class JobOffers: Sendable {
  private let stream: JetStream
  private let consumers = Mutex<Set<String>>([])

  init(_ stream: JetStream) { self.stream = stream }

  /// Publishes an offer after the offers that exist. The offer of an earlier job of the device is
  /// replaced, because a worker may be about to remove it.
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

  /// A refusal means that another offer of the device exists, which is sufficient.
  private func publishOnce(_ message: NATSMessage) async throws(NATSFault) {
    do throws(NATSFault) { try await stream.publish(message) } catch {
      guard case .refused(let refusal) = error, refusal.number == JetStreamRefusal.notStored else {
        throw error
      }
    }
  }

  /// Publishes the offers that are missing: a server may have lost them, or a worker removed an
  /// offer although it did not claim the job.
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
  /// The consumer of a site's offers.
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
