#if Sites
import Logging
import Synchronization

/// The objects that all routes share.
final class PageServices: Sendable {
  let model: any SitesModel
  let accounts: AccountBook
  let configuration: PageConfiguration
  let environment: SitesEnvironment
  let logger: Logger
  let checker: PasswordChecker
  let loginToken = LoginToken()
  let sessions = Mutex(SessionTable())
  let limiter = Mutex(LoginLimiter())
  let counters = Mutex(PageCounters())
  /// Creates one report at a time, because the report of a large run needs much memory.
  let reports = ReportWriter()

  init(
    model: any SitesModel, accounts: AccountBook, configuration: PageConfiguration,
    environment: SitesEnvironment, logger: Logger, cost: PasswordHash.Cost
  ) {
    self.model = model
    self.accounts = accounts
    self.configuration = configuration
    self.environment = environment
    self.logger = logger
    checker = PasswordChecker(cost: cost)
  }

  var hasTLS: Bool { configuration.isSecure }
}

/// The counts for the metrics.
struct PageCounters: Sendable {
  /// The number of responses by the first digit of the status.
  var responses: [Int: Int] = [:]
  var logins = 0
  var failedLogins = 0
  /// The number of open streams of events.
  var streams = 0
}
#endif
