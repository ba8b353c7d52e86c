#if Sites
import OtaflashNATS

/// The streams, buckets and subjects of a deployment, with the programs that write them.
///
/// | name | contents | written by |
/// |---|---|---|
/// | stream `FLASH` | offers, which state that a device has a waiting job | coordinator |
/// | bucket `STATE` | one entry per device: its jobs, claims and facts | both, by compare-and-set |
/// | bucket `RUNS` | the extent to which the facts of each run are recorded | coordinator |
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

  /// The time for which a gateway is shown as running after its last report.
  package static let presenceLifetime = Duration.seconds(60)
  package static let progressLifetime = Duration.seconds(60)

  /// Returns the token of a site. If `site` is `nil`, returns the token for jobs without a site.
  package static func token(ofSite site: String?) -> SubjectToken {
    site.map { SubjectToken($0) } ?? .none
  }

  /// Returns the name of the consumer of a site's offers.
  package static func consumer(ofSite site: String?) -> String { "\(token(ofSite: site))" }

  /// Returns the key of a device in `STATE` and `PROGRESS`.
  package static func key(site: String?, device: String) -> String {
    "\(token(ofSite: site)).\(SubjectToken(device))"
  }

  /// Returns the subject of an offer.
  package static func offer(_ key: String) -> String { "flash.job.\(key)" }

  /// Returns the filter for the subjects of all offers of a site.
  package static func offers(ofSite site: String?) -> String {
    "flash.job.\(token(ofSite: site)).>"
  }

  /// Returns the key of a gateway in `PRESENCE`.
  package static func key(site: String, gateway: String) -> String {
    "\(SubjectToken(site)).\(SubjectToken(gateway))"
  }

  /// Returns the prefix of a gateway's reply subjects. The prefix has two tokens: in one token, a
  /// separator that names may contain could make the prefixes of two gateways equal.
  package static func inbox(site: String, gateway: String) -> String {
    "_INBOX_\(SubjectToken(site)).\(SubjectToken(gateway))"
  }
}
#endif
