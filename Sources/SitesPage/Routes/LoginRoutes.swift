#if Sites
import Hummingbird
import Logging

/// The routes to log in and to log out.
struct LoginRoutes: Sendable {
  let services: PageServices

  private var cookies: PageCookies { PageCookies(hasTLS: services.hasTLS) }

  func add(to router: RouterGroup<PageContext>) {
    router.get("/login") { request, _ in
      let values = try Bodies.query(of: request)
      return form(next: values["next"] ?? "/", nonce: nonce(of: request))
    }
    router.post("/login", use: login)
  }

  func addLogout(to router: RouterGroup<PageContext>) {
    router.post("/logout") { request, context in
      let user = try context.user()
      try FormCheck.origin(of: request)
      try FormCheck.token(try await Bodies.form(of: request), of: user)
      if let key = cookies.key(cookies.sessionName, in: request) {
        services.sessions.withLock { $0.end(key) }
      }
      var response = Response.redirect(to: "/login")
      response.setCookie(cookies.clearing(cookies.sessionName))
      return response
    }
  }

  /// Returns the nonce in the cookie of the browser, or a new nonce if there is no cookie.
  private func nonce(of request: Request) -> SessionKey {
    cookies.key(cookies.loginName, in: request) ?? SessionKey()
  }

  private func form(
    next: String, nonce: SessionKey, mistake: String? = nil, account: String = "",
    status: HTTPResponse.Status = .ok
  ) -> Response {
    var response = Response.html(
      LoginView.page(
        code: services.loginToken.code(for: nonce), next: Self.local(next), mistake: mistake,
        account: account), status: status)
    response.setCookie(cookies.setting(cookies.loginName, to: nonce))
    return response
  }

  private func login(_ request: Request, _ context: PageContext) async throws -> Response {
    try FormCheck.origin(of: request)
    let values = try await Bodies.form(of: request)
    guard let nonce = cookies.key(cookies.loginName, in: request),
      services.loginToken.isValid(values[FormCheck.fieldName] ?? "", for: nonce)
    else { throw PageError.foreignForm }
    let name = values["account"] ?? ""
    let address = context.client(of: request, in: services.configuration)
    let now = services.environment.uptime()
    if let wait = services.limiter.withLock({
      $0.admit(account: name, address: address, at: now)
    }) {
      let error = PageError.tooManyAttempts(wait: wait)
      var response = form(
        next: values["next"] ?? "/", nonce: nonce, mistake: error.words, account: name,
        status: error.status)
      response.headers.append(contentsOf: error.headers)
      return response
    }
    let account = services.accounts[name]
    let answer = await services.checker.matches(values["password"] ?? "", of: account)
    guard let isRight = answer else { throw PageError.busy }
    guard isRight, let account else {
      services.counters.withLock { $0.failedLogins += 1 }
      services.logger.warning(
        "login failed", metadata: ["account": "\(name.prefix(64))", "address": "\(address)"])
      return form(
        next: values["next"] ?? "/", nonce: nonce,
        mistake: "The account or the password is not correct.", account: name,
        status: .unauthorized)
    }
    return begin(account, address: address, next: values["next"] ?? "/")
  }

  private func begin(_ account: Account, address: String, next: String) -> Response {
    services.limiter.withLock { $0.succeeded(account: account.name, address: address) }
    services.counters.withLock { $0.logins += 1 }
    services.logger.info(
      "login", metadata: ["account": "\(account.name)", "address": "\(address)"])
    let key = services.sessions.withLock {
      $0.begin(for: account.name, at: services.environment.uptime())
    }
    var response = Response.redirect(to: Self.local(next))
    response.setCookie(cookies.setting(cookies.sessionName, to: key))
    response.setCookie(cookies.clearing(cookies.loginName))
    return response
  }

  /// Returns the path if it is a path on this page; otherwise the path of the first page.
  static func local(_ path: String) -> String {
    let bytes = Array(path.utf8)
    guard bytes.first == UInt8(ascii: "/"), bytes.count <= 2000,
      bytes.count == 1 || (bytes[1] != UInt8(ascii: "/") && bytes[1] != UInt8(ascii: "\\")),
      bytes.allSatisfy({ (0x21...0x7E).contains($0) }), !bytes.contains(UInt8(ascii: "\\"))
    else { return "/" }
    return path
  }
}
#endif
