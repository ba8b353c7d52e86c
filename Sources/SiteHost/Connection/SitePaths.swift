#if Sites
/// The paths of the coordinator's files in its state directory.
package struct SitePaths: Sendable {
  private let directory: String

  /// - Parameter directory: the state directory.
  package init(in directory: String) { self.directory = directory }

  /// The folder with the list of gateways, the accounts of the servers, and new credentials files.
  package var credentials: String { directory + "/sites" }
  /// The file with the accounts of the page and the API.
  package var accounts: String { directory + "/accounts.json" }
  /// The folder with the campaigns that users submitted.
  package var submissions: String { directory + "/submissions" }
}
#endif
