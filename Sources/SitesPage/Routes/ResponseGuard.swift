#if Sites
import HTTPTypes
import Hummingbird
import Logging

/// A middleware that adds the security headers to every response, converts errors to responses, and
/// refuses requests for other host names.
struct ResponseGuard: RouterMiddleware {
  let services: PageServices
  let methods: APIMethods

  /// The content security policy: no content from other hosts, and no inline script or style.
  static let policy =
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    + "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

  private static let fixed: [(String, String)] = [
    ("X-Content-Type-Options", "nosniff"),
    // The value `no-referrer` would also remove the origin of forms.
    ("Referrer-Policy", "same-origin"), ("Cross-Origin-Opener-Policy", "same-origin"),
    ("Cross-Origin-Resource-Policy", "same-origin"), ("X-Frame-Options", "DENY"),
    ("Permissions-Policy", "camera=(), geolocation=(), microphone=(), usb=()"),
  ]

  func handle(
    _ request: Request, context: PageContext,
    next: (Request, PageContext) async throws -> Response
  ) async throws -> Response {
    var response: Response
    do {
      try checkHost(of: request)
      response = try await next(request, context)
    } catch {
      response = self.response(to: error, request)
    }
    for (name, value) in Self.fixed {
      if let name = HTTPField.Name(name) { response.headers[name] = value }
    }
    if response.headers[.contentSecurityPolicy] == nil {
      response.headers[.contentSecurityPolicy] = Self.policy
    }
    if response.headers[.cacheControl] == nil { response.headers[.cacheControl] = "no-store" }
    if services.hasTLS {
      response.headers[.strictTransportSecurity] = "max-age=31536000"
    }
    let kind = response.status.code / 100
    services.counters.withLock { $0.responses[kind, default: 0] += 1 }
    return response
  }

  private func response(to error: any Error, _ request: Request) -> Response {
    // The router has no route for this method and path.
    let isUnrouted = (error as? HTTPError)?.status == .notFound
    let page = isUnrouted ? methods.error(for: request.uri.path) : PageError(error)
    if page.status.kind == .serverError {
      services.logger.error(
        "request failed",
        metadata: ["path": "\(request.uri.path)", "error": "\(error)"])
    }
    return request.uri.path.hasPrefix("/api/") ? page.json : page.page(for: nil)
  }

  /// Throws if the request has an unknown host name. Without TLS, a page of an attacker's site
  /// could otherwise send requests to this page under the name of the attacker's site, if this name
  /// is resolved to 127.0.0.1 (DNS rebinding).
  private func checkHost(of request: Request) throws(PageError) {
    guard let authority = request.head.authority else { return }
    let host = Self.host(of: authority)
    let configuration = services.configuration
    let isKnown =
      configuration.hosts.contains(host) || host == configuration.address
      || LoopbackAddress.contains(host)
      || (configuration.hosts.isEmpty && services.hasTLS)
    guard isKnown else {
      throw PageError(
        status: .misdirectedRequest, code: "unknown-host",
        words: "this page is not available under this host name; add the name to the configuration")
    }
  }

  /// Returns the host in `name:port` or `[address]:port`.
  private static func host(of authority: String) -> String {
    if authority.hasPrefix("[") {
      return String(authority.dropFirst().prefix { $0 != "]" })
    }
    return authority.split(separator: ":").first.map { $0.lowercased() } ?? ""
  }
}

/// A middleware that requires a session for pages, and shows errors with the navigation of the
/// user.
struct PageAccess: RouterMiddleware {
  let services: PageServices

  func handle(
    _ request: Request, context: PageContext,
    next: (Request, PageContext) async throws -> Response
  ) async throws -> Response {
    guard let user = context.identity else {
      let isStream = request.headers[.accept]?.contains("text/event-stream") ?? false
      guard request.method == .get || request.method == .head, !isStream else {
        throw PageError.unauthenticated
      }
      let path = request.uri.query.map { request.uri.path + "?" + $0 } ?? request.uri.path
      return Response.redirect(to: path == "/" ? "/login" : "/login?next=" + Address.encoded(path))
    }
    do { return try await next(request, context) } catch {
      let page = PageError(error)
      guard page.status.kind != .serverError else { throw error }
      return page.page(for: user)
    }
  }
}
#endif
