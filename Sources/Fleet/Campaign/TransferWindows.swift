/// The windows of a campaign: one window for all devices, and the windows of individual sites.
package struct TransferWindows: Hashable, Sendable, Codable {
  package var general: TransferWindow?
  package var sites: [String: TransferWindow]

  package init(general: TransferWindow? = nil, sites: [String: TransferWindow] = [:]) {
    self.general = general
    self.sites = sites
  }

  package var all: [TransferWindow] { (general.map { [$0] } ?? []) + sites.values }

  /// Returns the site whose window applies to devices at `site`; `nil` = the window for all
  /// devices.
  package func decidingSite(for site: String?) -> String? {
    site.flatMap { sites[$0] == nil ? nil : $0 }
  }

  /// Returns the transfer window for devices at a site; `nil` = transfers may always start.
  package func window(at site: String?) -> TransferWindow? {
    site.flatMap { sites[$0] } ?? general
  }
}
