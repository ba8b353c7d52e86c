#if Sites
import Hummingbird

/// An error response, as a page or as JSON.
struct PageError: Error, Sendable {
  let status: HTTPResponse.Status
  /// The identifier for programs.
  let code: String
  /// The error as a clause.
  let words: String
  /// Further sentences, such as the mistakes of a campaign.
  var details: [String] = []
  var headers = HTTPFields()
}

extension PageError {
  static func badRequest(_ words: String) -> PageError {
    PageError(status: .badRequest, code: "bad-request", words: words)
  }

  static let unauthenticated = PageError(
    status: .unauthorized, code: "unauthenticated",
    words: "this request requires a login or an access token",
    headers: [.wwwAuthenticate: "Bearer"])

  static func forbidden(needs role: AccountRole) -> PageError {
    PageError(
      status: .forbidden, code: "forbidden",
      words: "this request requires the role \(role.rawValue); ask an administrator")
  }

  /// The error for a form of another site or of an ended session.
  static let foreignForm = PageError(
    status: .forbidden, code: "foreign-form",
    words: "the form is not from this page, or is out of date; load the page again and repeat")

  static let notFound = PageError(
    status: .notFound, code: "not-found", words: "there is no such page")

  static func tooLarge(limit: Int) -> PageError {
    PageError(
      status: .contentTooLarge, code: "too-large",
      words: "the request is larger than the permitted \(limit) bytes",
      headers: [.connection: "close"])
  }

  static let unsupportedType = PageError(
    status: .unsupportedMediaType, code: "unsupported-type",
    words: "the content type of the request is not supported")

  static func tooManyAttempts(wait: Duration) -> PageError {
    let seconds = max(1, Int((wait / .seconds(1)).rounded(.up)))
    return PageError(
      status: .tooManyRequests, code: "too-many-attempts",
      words: "too many failed logins; try again in \(seconds) s",
      headers: [.retryAfter: "\(seconds)"])
  }

  static let busy = PageError(
    status: .serviceUnavailable, code: "busy",
    words: "too many users log in at the same time; try again in a minute",
    headers: [.retryAfter: "60"])

  init(_ fault: SitesFault) {
    let words = fault.description
    switch fault {
    case .noRun, .noDevice: self.init(status: .notFound, code: "not-found", words: words)
    case .refused: self.init(status: .conflict, code: "refused", words: words)
    case .invalidCampaign(let mistakes):
      self.init(
        status: .unprocessableContent, code: "invalid-campaign", words: "the campaign is not valid",
        details: mistakes)
    case .unanswered: self.init(status: .gatewayTimeout, code: "unanswered", words: words)
    case .unavailable: self.init(status: .serviceUnavailable, code: "unavailable", words: words)
    case .storage: self.init(status: .internalServerError, code: "storage", words: words)
    }
  }

  /// Converts an error of Hummingbird or of this page.
  init(_ error: any Error) {
    switch error {
    case let error as PageError: self = error
    case let fault as SitesFault: self.init(fault)
    case let error as HTTPError where error.status == .notFound: self = .notFound
    case let error as HTTPError:
      self.init(
        status: error.status, code: "http-\(error.status.code)",
        words: error.body ?? error.status.reasonPhrase.lowercased(), headers: error.headers)
    default:
      self.init(
        status: .internalServerError, code: "internal",
        words: "the page failed; the log of the coordinator contains the reason")
    }
  }
}
#endif
