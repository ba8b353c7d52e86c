#if Sites
import Hummingbird

/// Streams of events (HTML Living Standard, "Server-sent events") that send changed parts to open
/// pages.
struct EventRoutes: Sendable {
  /// The maximum number of open streams; further streams are refused.
  static let streamsMaximum = 200
  /// The interval of updates.
  private static let interval = Duration.seconds(1)
  /// The number of intervals without a change after which an empty comment is sent to detect closed
  /// connections.
  private static let silenceMaximum = 15

  /// Returns the current parts; if `isLast` is true, the parts do not change any more.
  private typealias Parts = @Sendable () async throws(SitesFault) -> (html: HTML, isLast: Bool)

  let services: PageServices

  func add(to router: RouterGroup<PageContext>) {
    router.get("/events") { request, context in
      let services = services
      return try stream(request, context) { () async throws(SitesFault) in
        let gateways = try await services.model.gateways()
        let now = services.environment.wall()
        let overview = SitesView.overviewParts(
          try await services.model.runs(), gateways, at: now)
        let sites = LivePart.html("sites", SitesView.sites(gateways, at: now))
        return ("\(overview)\(sites)", false)
      }
    }
    router.get("/runs/:run/events") { request, context in
      let run = try context.part("run")
      let role = try context.user().role
      let services = services
      _ = try await services.model.run(run)
      return try stream(request, context) { () async throws(SitesFault) in
        let book = try await services.model.run(run)
        let transfers = try await services.model.transfers()
        let gateways = try await services.model.gateways()
        let now = services.environment.wall()
        return book.read { index in
          (
            RunView(&index, role: role, transfers: transfers, gateways: gateways, at: now)
              .liveParts, index.hasEnded
          )
        }
      }
    }
  }

  private func stream(
    _ request: Request, _ context: PageContext, _ parts: @escaping Parts
  ) throws(PageError) -> Response {
    let user = try context.user()
    let count = services.counters.withLock { $0.streams }
    guard count < Self.streamsMaximum else {
      throw PageError(
        status: .serviceUnavailable, code: "too-many-streams",
        words: "too many pages are open; live updates are not available")
    }
    let cookies = PageCookies(hasTLS: services.hasTLS)
    guard let key = cookies.key(cookies.sessionName, in: request) else { throw .unauthenticated }
    let services = services
    let body = ResponseBody { writer in
      services.counters.withLock { $0.streams += 1 }
      defer { services.counters.withLock { $0.streams -= 1 } }
      var (last, silence) = ("", 0)
      repeat {
        guard Self.isValid(key, user, services) else { break }
        let (html, isLast) = try await parts()
        if html.text != last {
          try await writer.write(ByteBuffer(string: Self.event("parts", html.text)))
          (last, silence) = (html.text, 0)
        } else if silence >= Self.silenceMaximum {
          try await writer.write(ByteBuffer(string: ":\n\n"))
          silence = 0
        }
        silence += 1
        if isLast {
          try await writer.write(ByteBuffer(string: Self.event("ended", "")))
          break
        }
      } while await services.environment.pause(Self.interval)
      try await writer.finish(nil)
    }
    return Response(
      status: .ok, headers: [.contentType: "text/event-stream"], body: body)
  }

  /// Returns whether the session is still valid and its account still has the same role.
  private static func isValid(
    _ key: SessionKey, _ user: PageUser, _ services: PageServices
  ) -> Bool {
    let now = services.environment.uptime()
    let session = services.sessions.withLock { $0.session(of: key, at: now, isPassive: true) }
    return session != nil && services.accounts[user.account]?.role == user.role
  }

  private static func event(_ name: String, _ data: String) -> String {
    let lines = data.split(separator: "\n", omittingEmptySubsequences: false)
      .map { "data: \($0)\n" }.joined()
    return "event: \(name)\n\(lines)\n"
  }
}
#endif
