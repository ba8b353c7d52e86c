#if Sites
import OtaflashNATS

/// The streams, buckets and consumers of `SiteLayout`, as the coordinator creates them.
///
/// No bucket allows a roll-up, and each bucket stores only the newest revision of an entry: a
/// gateway may write the entries of its site, and these writes must not remove other entries or
/// fill the bucket.
package enum SiteStreams {
  /// The time after which an offer that was neither acknowledged nor returned is delivered again. A
  /// gateway acknowledges an offer as soon as the claim is stored. The limit may be short, because
  /// the compare-and-set of the claim succeeds only once.
  package static let acknowledgementLimit = Duration.seconds(5)
  /// The maximum number of offers of a site that were delivered, but not acknowledged. The number
  /// is greater than the number of concurrent jobs of all gateways of a site.
  package static let openMaximum = 4096
  /// The maximum size of the values that only gateways write, in bytes.
  static let reportMaximum: Int32 = 64 * 1024
  /// The maximum size of a bucket in memory, in bytes.
  static let memoryMaximum: Int64 = 64 << 20

  /// Returns the stream of the offers. It stores at most one offer per device, and each offer is
  /// for one consumer.
  package static func offers(replicas: Int = 1) -> StreamConfiguration {
    var stream = StreamConfiguration(name: SiteLayout.offers, subjects: ["flash.job.>"])
    stream.retention = .workQueue
    stream.maximumMessagesPerSubject = 1
    stream.discard = .new
    stream.discardsNewPerSubject = true
    stream.replicas = replicas
    // The coordinator reads offers from the leader. A gateway has no permission to read offers.
    stream.allowsDirectReads = false
    return stream
  }

  /// Returns the configurations of all buckets.
  package static func buckets(replicas: Int = 1) -> [KeyValueConfiguration] {
    let stored = [SiteLayout.state, SiteLayout.runs, SiteLayout.images, SiteLayout.leader].map {
      KeyValueConfiguration(bucket: $0, replicas: replicas)
    }
    let reported = [
      (SiteLayout.presence, SiteLayout.presenceLifetime),
      (SiteLayout.progress, SiteLayout.progressLifetime),
    ].map { name, lifetime in
      KeyValueConfiguration(
        bucket: name, lifetime: lifetime, maximumValueBytes: reportMaximum,
        maximumBytes: memoryMaximum, storage: .memory, replicas: replicas)
    }
    return stored + reported
  }

  /// Returns the configuration of the consumer of a site's offers. If `site` is `nil`, returns the
  /// configuration for the offers of jobs without a site.
  package static func consumer(ofSite site: String?) -> ConsumerConfiguration {
    ConsumerConfiguration(
      name: SiteLayout.consumer(ofSite: site), filter: SiteLayout.offers(ofSite: site),
      acknowledgementLimit: acknowledgementLimit, openMaximum: openMaximum)
  }

  /// Creates the streams and buckets, or changes the configuration of existing streams and buckets.
  ///
  /// - Parameter replicas: the number of servers that store each entry: 1, 3 or 5.
  package static func create(
    on stream: JetStream, replicas: Int = 1
  ) async throws(NATSFault) {
    try await stream.ensureStream(offers(replicas: replicas))
    for bucket in buckets(replicas: replicas) {
      _ = try await KeyValueBucket(bucket, of: stream)
    }
  }

  /// Creates the consumers of sites; existing consumers are kept.
  package static func createConsumers(
    of sites: [String?], on stream: JetStream
  ) async throws(NATSFault) {
    for site in sites {
      try await stream.createConsumer(consumer(ofSite: site), of: SiteLayout.offers)
    }
  }
}
#endif
