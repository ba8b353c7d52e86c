#if Sites
import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdTesting
import OtaflashFleet
import OtaflashFleetSamples
import Testing

@testable import OtaflashSitesPage

/// Attempts to break each protection of the page and the API.
@Suite struct SecurityTests {
  // MARK: Addresses

  @Test(arguments: ["0.0.0.0", "::", "192.168.1.5", "10.0.0.1", "flash.example.com", "127.0.0.1.x"])
  func anOpenAddressRequiresTLS(_ address: String) throws {
    var configuration = PageConfiguration()
    configuration.address = address
    #expect(throws: PageFault.plainAddress(address)) { try configuration.check() }
    #expect("\(PageFault.plainAddress(address))".contains("certificate"))
    configuration.tls = .init(certificates: "/c.pem", privateKey: "/k.pem")
    try configuration.check()
  }

  @Test func aProxyIsOnThisMachine() throws {
    var configuration = PageConfiguration()
    configuration.isBehindProxy = true
    try configuration.check()
    configuration.address = "192.0.2.1"
    configuration.tls = .init(certificates: "/c.pem", privateKey: "/k.pem")
    #expect(throws: PageFault.openProxyAddress("192.0.2.1")) { try configuration.check() }
  }

  @Test func behindAProxyTheClientIsLimited() async throws {
    try await PageFixture { $0.isBehindProxy = true }.test { client in
      let name = try #require(HTTPField.Name("X-Forwarded-For"))
      var client = client
      let form = try await client.get("/login")
      client.keep(form)
      let cookies = form.headers[values: .setCookie]
      #expect(cookies.allSatisfy { $0.hasPrefix("__Host-") && $0.hasSuffix("; Secure") })
      for attempt in 0...LoginLimiter.freeForAddress {
        let values = [
          ("form-token", try form.formToken), ("account", "name\(attempt)"), ("password", "x"),
        ]
        // The client can only prepend addresses.
        let headers: HTTPFields = [name: "198.51.100.\(attempt), 192.0.2.7"]
        let status = try await client.post("/login", values, headers: headers).status
        let isLast = attempt == LoginLimiter.freeForAddress
        #expect(status == (isLast ? .tooManyRequests : .unauthorized))
      }
    }
  }

  @Test(arguments: ["127.0.0.1", "127.1.2.3", "::1", "localhost"])
  func aLoopbackAddressDoesNot(_ address: String) throws {
    var configuration = PageConfiguration()
    configuration.address = address
    try configuration.check()
  }

  @Test func thePageDoesNotStartWithoutItsRequirements() async throws {
    let fixture = try await PageFixture()
    let book = try AccountBook(fixture.accounts)
    var open = PageConfiguration()
    open.address = "0.0.0.0"
    #expect(throws: PageFault.plainAddress("0.0.0.0")) {
      try SitesPage(model: fixture.coordinator.sites, accounts: book, configuration: open)
    }
    var broken = PageConfiguration()
    broken.tls = .init(certificates: fixture.folder.path + "/none.pem", privateKey: "/none")
    let page = try SitesPage(
      model: fixture.coordinator.sites, accounts: book, configuration: broken)
    let fault = await #expect(throws: PageFault.self) { try await page.run() }
    #expect("\(try #require(fault))".contains("none.pem"))
    for role in AccountRole.allCases { try fixture.accounts.remove(role.rawValue) }
    let empty = try AccountBook(fixture.accounts)
    #expect(throws: PageFault.noAccounts(path: fixture.accounts.path)) {
      try SitesPage(
        model: fixture.coordinator.sites, accounts: empty, configuration: PageConfiguration())
    }
  }

  @Test func anotherNameIsRefused() async throws {
    try await PageFixture().testLive { client in
      let response = try await client.get("/login")
      #expect(response.status == .ok)
      let port = try #require(client.client.port)
      for host in ["evil.example", "evil.example:\(port)", "127.0.0.1.evil.example"] {
        let answer = try await RawRequest(port: port).send("GET /login", host: host)
        #expect(answer.hasPrefix("HTTP/1.1 421"), "\(host): \(answer.prefix(40))")
      }
      let own = try await RawRequest(port: port).send("GET /login", host: "localhost:\(port)")
      #expect(own.hasPrefix("HTTP/1.1 200"))
    }
  }

  // MARK: Roles

  @Test func theAPIRequiresAToken() async throws {
    try await PageFixture().test { client in
      let user = try await client.loggedIn(as: .admin)
      for path in ["/runs", "/devices", "/gateways", "/versions", "/runs/a11fe0/report"] {
        #expect(try await client.api(path, as: nil).status == .unauthorized)
        // The session of a browser is not a token.
        #expect(try await user.get("/api/v1" + path).status == .unauthorized)
      }
      let token = try #require(client.fixture.tokens[.admin])
      let wrong = [
        "Bearer", "Bearer x", "Basic YTpi", "Bearer \(token.dropLast())0",
        "Bearer \(token) \(token)",
        "Bearer " + token.replacingOccurrences(of: "otaflash_", with: ""),
        token,
      ]
      for value in wrong where value != "Bearer \(token)" {
        let response = try await client.get("/api/v1/runs", headers: [.authorization: value])
        #expect(response.status == .unauthorized, "\(value)")
      }
    }
  }

  @Test func aTokenIsNotASession() async throws {
    try await PageFixture().test { client in
      let token = try #require(client.fixture.tokens[.admin])
      let response = try await client.get("/accounts", headers: [.authorization: "Bearer \(token)"])
      #expect(response.status == .seeOther)
    }
  }

  @Test func aViewerOnlyReads() async throws {
    let fixture = try await PageFixture()
    let before = try fixture.events().count
    try await fixture.test { client in
      let viewer = try await client.loggedIn(as: .viewer)
      let token = try await viewer.get("/").formToken
      #expect(try await !viewer.get("/runs/a11fe0").text.contains("/runs/a11fe0/approve"))
      for action in RunAction.allCases {
        let path = "/runs/a11fe0/\(action.rawValue)"
        #expect(try await viewer.get(path).status == .forbidden)
        let values = [("form-token", token), ("reason", "x"), ("state", "x")]
        #expect(try await viewer.post(path, values).status == .forbidden)
        let answer = try await client.api(
          "/runs/a11fe0/commands", method: .post,
          json: #"{"action":"\#(action.rawValue)","reason":"x"}"#)
        #expect(answer.status == .forbidden)
      }
      #expect(try await viewer.get("/runs/new").status == .forbidden)
      let parts = [("form-token", nil, token), ("campaign", "a.yaml", "name: x")]
      #expect(try await viewer.multipart("/runs", parts).status == .forbidden)
      #expect(try await viewer.get("/accounts").status == .forbidden)
      #expect(try fixture.events().count == before)
    }
  }

  @Test func onlyAnAdministratorSeesAccounts() async throws {
    try await PageFixture().test { client in
      let operatorClient = try await client.loggedIn(as: .op)
      #expect(try await operatorClient.get("/accounts").status == .forbidden)
      let path = "/accounts/viewer/end-sessions"
      let token = try await operatorClient.get("/").formToken
      #expect(try await operatorClient.post(path, [("form-token", token)]).status == .forbidden)
      let viewer = try await client.loggedIn(as: .viewer)
      let admin = try await client.loggedIn(as: .admin)
      let page = try await admin.get("/accounts")
      #expect(page.status == .ok)
      #expect(!page.text.contains("scrypt"))
      #expect(
        try await admin.post(path, [("form-token", try page.formToken)]).status == .seeOther)
      #expect(try await viewer.get("/").status == .seeOther)
    }
  }

  // MARK: Forms of other sites

  @Test func aFormRequiresTheTokenOfItsSession() async throws {
    let fixture = try await PageFixture()
    let before = try fixture.events().count
    try await fixture.test { client in
      let user = try await client.loggedIn(as: .op)
      let other = try await client.loggedIn(as: .op)
      let form = try await user.get("/runs/a11fe0/pause")
      let state = try form.field("state")
      let tokens = ["", "x", try await other.get("/").formToken, SessionKey().text]
      for token in tokens {
        let values = [("form-token", token), ("state", state), ("reason", "x")]
        #expect(try await user.post("/runs/a11fe0/pause", values).status == .forbidden)
        #expect(try await user.post("/logout", [("form-token", token)]).status == .forbidden)
        let parts = [("form-token", nil, token), ("campaign", "a.yaml", "name: x")]
        #expect(try await user.multipart("/runs", parts).status == .forbidden)
      }
      #expect(try fixture.events().count == before)
    }
  }

  @Test func aFormOfAnotherSiteIsRefused() async throws {
    try await PageFixture().test { client in
      let user = try await client.loggedIn(as: .op)
      let form = try await user.get("/runs/a11fe0/pause")
      let values = [
        ("form-token", try form.formToken), ("state", try form.field("state")), ("reason", "x"),
      ]
      let site = try #require(HTTPField.Name("Sec-Fetch-Site"))
      for headers: HTTPFields in [
        [.origin: "https://evil.example"], [.origin: "null"], [site: "cross-site"],
        [site: "same-site"],
      ] {
        let response = try await user.post("/runs/a11fe0/pause", values, headers: headers)
        #expect(response.status == .forbidden)
      }
    }
  }

  @Test func aLoginRequiresTheCookieOfItsForm() async throws {
    try await PageFixture().test { client in
      let attacker = try await client.get("/login")
      var victim = client
      victim.keep(try await client.get("/login"))
      for token in [try attacker.formToken, "", String(repeating: "0", count: 64)] {
        let response = try await victim.post(
          "/login",
          [
            ("form-token", token), ("account", "viewer"),
            ("password", PageFixture.password(.viewer)),
          ])
        #expect(response.status == .forbidden)
      }
    }
  }

  // MARK: GET

  @Test func aGetChangesNothing() async throws {
    let fixture = try await PageFixture()
    let before = try fixture.events()
    try await fixture.test { client in
      let admin = try await client.loggedIn(as: .admin)
      let token = try await admin.get("/").formToken
      let query = "?form-token=\(token)&reason=x&state=x&confirm=1"
      for action in RunAction.allCases {
        _ = try await admin.get("/runs/a11fe0/\(action.rawValue)\(query)")
      }
      for path in ["/logout", "/accounts/viewer/end-sessions", "/login", "/runs", "/runs/new"] {
        _ = try await admin.get(path + query)
      }
      #expect(
        try await client.api("/runs/a11fe0/commands", as: .admin).status == .methodNotAllowed)
      #expect(try await admin.get("/").status == .ok)
      #expect(try fixture.events() == before)
      #expect(
        try await fixture.coordinator.store.commands(of: PageFixture.run).pending().isEmpty)
    }
  }

  // MARK: Sizes

  @Test func aLargeBodyIsRefused() async throws {
    let fixture = try await PageFixture { $0.submissionMaximum = 10_000 }
    try await fixture.test { client in
      let user = try await client.loggedIn(as: .op)
      let long = String(repeating: "x", count: Bodies.formMaximum + 1)
      for path in ["/login", "/logout", "/runs/a11fe0/pause"] {
        #expect(try await user.post(path, [("reason", long)]).status == .contentTooLarge, "\(path)")
      }
      let json = #"{"action":"pause","reason":"\#(long)"}"#
      let answer = try await client.api(
        "/runs/a11fe0/commands", as: .op, method: .post, json: json)
      #expect(answer.status == .contentTooLarge)
      let token = try await user.get("/").formToken
      let parts = [
        ("form-token", nil, token), ("campaign", "a.yaml", "name: x"),
        ("files", "a.bin", String(repeating: "x", count: 10_000)),
      ]
      #expect(try await user.multipart("/runs", parts).status == .contentTooLarge)
    }
  }

  /// The size is also counted while the body arrives, because its declared length may be missing.
  @Test func aBodyWithoutLengthIsCounted() async throws {
    try await PageFixture().testLive { client in
      let port = try #require(client.client.port)
      let chunk = String(repeating: "x", count: 40_000)
      let size = String(chunk.utf8.count, radix: 16)
      let answer = try await RawRequest(port: port).send(
        "POST /login", host: "localhost:\(port)",
        headers: [
          "Transfer-Encoding: chunked", "Content-Type: application/x-www-form-urlencoded",
        ], body: "\(size)\r\n\(chunk)\r\n\(size)\r\n\(chunk)\r\n0\r\n\r\n")
      #expect(answer.hasPrefix("HTTP/1.1 413"))
    }
  }

  // MARK: Health and metrics

  @Test func metricsRequireATokenOrThisMachine() async throws {
    try await PageFixture().test { client in
      // The client of the test has no address.
      #expect(try await client.get("/metrics").status == .unauthorized)
      #expect(
        try await client.get("/metrics", headers: [.authorization: "Bearer x"]).status
          == .unauthorized)
      let token = try #require(client.fixture.tokens[.viewer])
      let response = try await client.get(
        "/metrics", headers: [.authorization: "Bearer \(token)"])
      #expect(response.status == .ok)
      #expect(response.text.contains("otaflash_sites_gateways{state=\"silent\"} 1\n"))
    }
    try await PageFixture().testLive { client in
      #expect(try await client.get("/metrics").status == .ok)
      // A request that a proxy on this machine forwards comes from another client.
      let forwarded = try #require(HTTPField.Name("X-Forwarded-For"))
      #expect(
        try await client.get("/metrics", headers: [forwarded: "192.0.2.1"]).status
          == .unauthorized)
    }
  }

  @Test func healthHasNoDetails() async throws {
    try await PageFixture().test { client in
      let response = try await client.get("/healthz")
      #expect(response.status == .ok)
      #expect(response.text == "ok\n")
    }
  }
}
#endif
