/// The windows of a campaign: one for all devices, and those of sites that have their own.
package struct TransferWindows: Hashable, Sendable, Codable {
  package var general: TransferWindow?
  package var sites: [String: TransferWindow]

  package init(general: TransferWindow? = nil, sites: [String: TransferWindow] = [:]) {
    self.general = general
    self.sites = sites
  }

  package var all: [TransferWindow] { (general.map { [$0] } ?? []) + sites.values }

  /// The site whose window decides about devices at `site`; `nil` = the one for all devices does.
  package func decidingSite(for site: String?) -> String? {
    site.flatMap { sites[$0] == nil ? nil : $0 }
  }

  /// When transfers to devices of a site may start; `nil` = always.
  package func window(at site: String?) -> TransferWindow? {
    site.flatMap { sites[$0] } ?? general
  }
}
