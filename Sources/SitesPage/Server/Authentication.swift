#if Sites
import Hummingbird

/// Finds the user of a request: pages use a session, and the API uses a token. The API accepts no
/// cookies, so that other sites cannot use the API with the session of a browser.
struct Authentication: RouterMiddleware {
  enum Kind: Sendable {
    case page
    case api
    /// Metrics: a token, or no authentication for a client on this computer.
    case metrics
  }

  let services: PageServices
  let kind: Kind

  func handle(
    _ request: Request, context: PageContext,
    next: (Request, PageContext) async throws -> Response
  ) async throws -> Response {
    var context = context
    switch kind {
    case .page: context.identity = session(of: request)
    case .api: context.identity = try token(of: request)
    case .metrics:
      if request.headers[.authorization] != nil {
        context.identity = try token(of: request)
      } else if let address = context.address, LoopbackAddress.contains(address),
        !isForwarded(request)
      {
        context.identity = PageUser(account: "", role: .viewer, session: nil)
      }
    }
    return try await next(request, context)
  }

  private func session(of request: Request) -> PageUser? {
    let cookies = PageCookies(hasTLS: services.hasTLS)
    guard let key = cookies.key(cookies.sessionName, in: request) else { return nil }
    let now = services.environment.uptime()
    // Streams of events send requests without an action of the user.
    let isPassive = request.headers[.accept]?.contains("text/event-stream") ?? false
    let session = services.sessions.withLock {
      $0.session(of: key, at: now, isPassive: isPassive)
    }
    guard let session, let account = services.accounts[session.account] else { return nil }
    return PageUser(account: account.name, role: account.role, session: session)
  }

  private func token(of request: Request) throws(PageError) -> PageUser? {
    guard let field = request.headers[.authorization] else { return nil }
    let parts = field.split(separator: " ", omittingEmptySubsequences: true)
    guard parts.count == 2, parts[0].lowercased() == "bearer",
      let token = AccessToken(String(parts[1])),
      let account = services.accounts.account(with: token)
    else {
      services.counters.withLock { $0.failedLogins += 1 }
      throw .unauthenticated
    }
    return PageUser(account: account.name, role: account.role, session: nil)
  }

  /// Returns whether a proxy on this computer forwards the request of another client.
  private func isForwarded(_ request: Request) -> Bool {
    request.headers.contains { field in
      let name = field.name.canonicalName
      return name == "forwarded" || name == "via" || name.hasPrefix("x-forwarded")
        || name == "x-real-ip"
    }
  }
}

/// Checks of requests that change state.
enum FormCheck {
  /// Throws if another site sent the request: browsers state the origin of each POST.
  static func origin(of request: Request) throws(PageError) {
    let site = request.headers.first { $0.name.canonicalName == "sec-fetch-site" }?.value
    guard site == nil || site == "same-origin" || site == "none" else { throw .foreignForm }
    guard let origin = request.headers[.origin] else { return }
    let host = request.head.authority ?? ""
    guard origin == "http://" + host || origin == "https://" + host else { throw .foreignForm }
  }

  /// Throws unless a form contains the token of the session.
  static func token(_ form: FormValues, of identity: PageUser) throws(PageError) {
    guard let session = identity.session, let token = form[fieldName],
      SecretBytes.areEqual(Array(token.utf8), Array(session.formToken.utf8))
    else { throw .foreignForm }
  }

  static let fieldName = "form-token"
}
#endif
