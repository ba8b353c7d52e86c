#if Sites
import Hummingbird
import HummingbirdTLS
import Logging

/// The page and the API of a coordinator.
///
/// ```swift
/// let page = try SitesPage(model: sites, accounts: book, configuration: configuration)
/// try await page.run()
/// ```
package struct SitesPage: Sendable {
  private let model: any SitesModel
  private let accounts: AccountBook
  private let configuration: PageConfiguration
  private let environment: SitesEnvironment

  /// - Throws: `plainAddress` if the address requires TLS, `noAccounts`.
  package init(
    model: any SitesModel, accounts: AccountBook, configuration: PageConfiguration,
    environment: SitesEnvironment = SitesEnvironment()
  ) throws(PageFault) {
    try configuration.check()
    guard !accounts.all.isEmpty else { throw .noAccounts(path: accounts.file.path) }
    self.model = model
    self.accounts = accounts
    self.configuration = configuration
    self.environment = environment
  }

  /// Serves the page until the task is cancelled.
  ///
  /// - Parameter onListening: called with the port after the server listens.
  package func run(
    onListening: @escaping @Sendable (Int) async -> Void = { _ in }
  ) async throws(PageFault) {
  }
}
#endif
