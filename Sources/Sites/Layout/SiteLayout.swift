#if Sites
import OtaflashNATS

/// The streams, buckets and subjects of a deployment, and which of them a gateway may use.
///
/// | name | contents | written by |
/// |---|---|---|
/// | stream `FLASH` | offers: which device has a waiting job | coordinator |
/// | bucket `STATE` | one entry per device: its jobs, claims and facts | both, by compare-and-set |
/// | bucket `RUNS` | how far the events of each run are recorded | coordinator |
/// | bucket `FW` | images in chunks, by SHA-256 | coordinator |
/// | bucket `PRESENCE` | the running gateways | gateways |
/// | bucket `PROGRESS` | the progress of transfers | gateways |
/// | bucket `LEADER` | the running coordinator | coordinator |
package enum SiteLayout {
  package static let offers = "FLASH"
  package static let state = "STATE"
  package static let runs = "RUNS"
  package static let images = "FW"
  package static let presence = "PRESENCE"
  package static let progress = "PROGRESS"
  package static let leader = "LEADER"

  /// The time after its last report at which a gateway is no longer shown as running.
  package static let presenceLifetime = Duration.seconds(60)
  package static let progressLifetime = Duration.seconds(60)

  /// The token of a site; `nil` = jobs without a site.
  package static func token(ofSite site: String?) -> SubjectToken {
    site.map { SubjectToken($0) } ?? .none
  }

  /// The name of the consumer of a site's offers.
  package static func consumer(ofSite site: String?) -> String { "\(token(ofSite: site))" }

  /// The key of a device in `STATE` and `PROGRESS`.
  package static func key(site: String?, device: String) -> String {
    "\(token(ofSite: site)).\(SubjectToken(device))"
  }

  /// The subject of an offer.
  package static func offer(_ key: String) -> String { "flash.job.\(key)" }

  /// The subjects of all offers of a site.
  package static func offers(ofSite site: String?) -> String {
    "flash.job.\(token(ofSite: site)).>"
  }

  /// The key of a gateway in `PRESENCE`.
  package static func key(site: String, gateway: String) -> String {
    "\(SubjectToken(site)).\(SubjectToken(gateway))"
  }

  /// The prefix of a gateway's reply subjects. Two tokens: one with a separator that is part of
  /// names could be the prefix of two gateways.
  package static func inbox(site: String, gateway: String) -> String {
    "_INBOX_\(SubjectToken(site)).\(SubjectToken(gateway))"
  }
}
#endif
