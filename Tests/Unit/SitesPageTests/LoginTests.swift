#if Sites
import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdTesting
import OtaflashFleet
import Testing

@testable import OtaflashSitesPage

/// Attempts to log in without the right password, session or form.
@Suite struct LoginTests {
  @Test func aPasswordOpensASession() async throws {
    try await PageFixture().test { client in
      var client = client
      #expect(try await client.get("/").headers[.location] == "/login")
      #expect(try await client.tryLogin("viewer", "a wrong password").status == .unauthorized)
      #expect(try await client.get("/").status == .seeOther)
      let response = try await client.tryLogin(
        "viewer", "a password of viewer", next: "/devices?q=a%20b")
      #expect(response.headers[.location] == "/devices?q=a%20b")
      #expect(try await client.get("/").status == .ok)
    }
  }

  @Test func theAnswerDoesNotRevealAccounts() async throws {
    try await PageFixture().test { client in
      var (one, two) = (client, client)
      let wrong = try await one.tryLogin("viewer", "a wrong password")
      let unknown = try await two.tryLogin("unknown", "a wrong password")
      let pattern = /value="[^"]*"/
      #expect(wrong.status == unknown.status)
      #expect(wrong.text.replacing(pattern, with: "") == unknown.text.replacing(pattern, with: ""))
    }
  }

  @Test func theCookieIsASecretOfTheBrowser() async throws {
    try await PageFixture().test { client in
      var (one, two) = (client, client)
      let response = try await one.tryLogin("viewer", PageFixture.password(.viewer))
      let cookie = try #require(
        response.headers[values: .setCookie].first { $0.hasPrefix("otaflash-session=") })
      #expect(cookie.contains("; HttpOnly") && cookie.contains("; SameSite=Strict"))
      #expect(cookie.contains("; Path=/") && !cookie.contains("Domain"))
      _ = try await two.tryLogin("viewer", PageFixture.password(.viewer))
      let (first, second) = (one.cookies["otaflash-session"], two.cookies["otaflash-session"])
      #expect(first?.count == 64)  // 256 bits in hex digits
      #expect(first != second)
    }
  }

  @Test func withTLSTheCookieIsSecure() {
    let cookies = PageCookies(hasTLS: true)
    let text = cookies.setting(cookies.sessionName, to: SessionKey())
    #expect(text.hasPrefix("__Host-otaflash-session=") && text.hasSuffix("; Secure"))
  }

  @Test func anInventedCookieOpensNothing() async throws {
    try await PageFixture().test { client in
      var client = client
      for value in ["", "0", String(repeating: "0", count: 64), SessionKey().text] {
        client.cookies["otaflash-session"] = value
        let status = try await client.get("/").status
        #expect(status == .seeOther)
      }
    }
  }

  @Test func aSessionEndsWithoutUse() async throws {
    let fixture = try await PageFixture()
    try await fixture.test { client in
      let client = try await client.loggedIn(as: .viewer)
      fixture.clocks.advance(by: SessionTable.idleLifetime - .seconds(1))
      #expect(try await client.get("/").status == .ok)
      fixture.clocks.advance(by: SessionTable.idleLifetime)
      #expect(try await client.get("/").status == .seeOther)
    }
  }

  @Test func aSessionEndsAfterItsLifetime() async throws {
    let fixture = try await PageFixture()
    try await fixture.test { client in
      let client = try await client.loggedIn(as: .viewer)
      var passed = Duration.zero
      while passed < SessionTable.lifetime - .seconds(3600) {
        fixture.clocks.advance(by: .seconds(3600))
        passed += .seconds(3600)
        #expect(try await client.get("/").status == .ok)
      }
      fixture.clocks.advance(by: .seconds(3600))
      #expect(try await client.get("/").status == .seeOther)
    }
  }

  @Test func anOpenPageWithLiveUpdatesDoesNotProlongTheSession() {
    var table = SessionTable()
    let key = table.begin(for: "anna", at: .zero)
    let later = SessionTable.idleLifetime - .seconds(1)
    #expect(table.session(of: key, at: later, isPassive: true) != nil)
    #expect(table.session(of: key, at: later + .seconds(2), isPassive: true) == nil)
  }

  @Test func loggingOutEndsTheSession() async throws {
    try await PageFixture().test { client in
      let client = try await client.loggedIn(as: .viewer)
      let token = try await client.get("/").formToken
      #expect(try await client.get("/logout").status == .notFound)
      #expect(try await client.post("/logout", [("form-token", token)]).status == .seeOther)
      #expect(try await client.get("/").status == .seeOther)
    }
  }

  @Test func aRemovedOrChangedAccountLosesItsRights() async throws {
    let fixture = try await PageFixture()
    try await fixture.test { client in
      let client = try await client.loggedIn(as: .op)
      #expect(try await client.get("/runs/new").status == .ok)
      try fixture.accounts.setRole(.viewer, of: "operator")
      fixture.clocks.advance(by: .seconds(1))
      #expect(try await client.get("/runs/new").status == .forbidden)
      try fixture.accounts.remove("operator")
      fixture.clocks.advance(by: .seconds(1))
      #expect(try await client.get("/").status == .seeOther)
      #expect(try await client.api("/runs", as: .op).status == .unauthorized)
    }
  }

  /// The accounts remain valid while their file is missing, and the page of accounts reports it.
  @Test func aMissingFileOfAccountsIsReported() async throws {
    let fixture = try await PageFixture()
    let clocks = fixture.clocks
    let book = try AccountBook(fixture.accounts, environment: clocks.environment)
    #expect(book.fault == nil)
    let content = try Data(contentsOf: URL(filePath: fixture.accounts.path))
    try FileManager.default.removeItem(atPath: fixture.accounts.path)
    clocks.advance(by: .seconds(1))
    #expect(book.fault == .missing(path: fixture.accounts.path))
    #expect(book["operator"] != nil)
    try content.write(to: URL(filePath: fixture.accounts.path))
    chmod(fixture.accounts.path, 0o600)
    clocks.advance(by: .seconds(1))
    #expect(book.fault == nil)
  }

  @Test func anAccountHasALimitedNumberOfSessions() {
    var table = SessionTable()
    let keys = (0..<40).map { table.begin(for: "anna", at: .seconds($0)) }
    #expect(table.count == SessionTable.maximumPerAccount)
    #expect(table.session(of: keys[0], at: .seconds(40)) == nil)
    #expect(table.session(of: keys[39], at: .seconds(40)) != nil)
  }

  @Test(arguments: [
    "//evil.example", "https://evil.example", "/\\evil.example", "javascript:alert(1)",
    "/a\r\nSet-Cookie: x=y", "", "evil.example/", "/\u{9}/evil.example",
  ])
  func aLoginLeadsOnlyToThisPage(_ next: String) async throws {
    try await PageFixture().test { client in
      var client = client
      let response = try await client.tryLogin(
        "viewer", PageFixture.password(.viewer), next: next)
      #expect(response.headers[.location] == "/")
    }
  }

  // MARK: The limit of failed logins

  @Test func anAccountIsLimited() async throws {
    let fixture = try await PageFixture()
    try await fixture.test { client in
      var client = client
      for _ in 0..<LoginLimiter.freeForAccount {
        #expect(try await client.tryLogin("viewer", "a wrong password").status == .unauthorized)
      }
      let refused = try await client.tryLogin("viewer", PageFixture.password(.viewer))
      #expect(refused.status == .tooManyRequests)
      #expect(refused.headers[.retryAfter] == "10")
      #expect(try await client.tryLogin("admin", PageFixture.password(.admin)).status == .seeOther)
      fixture.clocks.advance(by: .seconds(11))
      let admitted = try await client.tryLogin("viewer", PageFixture.password(.viewer))
      #expect(admitted.status == .seeOther)
    }
  }

  @Test func anAddressIsLimitedOverAllAccounts() {
    var limiter = LoginLimiter()
    var admitted = 0
    for number in 0..<1000
    where limiter.admit(account: "name \(number)", address: "192.0.2.1", at: .seconds(1)) == nil {
      admitted += 1
    }
    #expect(admitted == LoginLimiter.freeForAddress)
  }

  @Test func anIPv6NetworkIsOneAddress() {
    var limiter = LoginLimiter()
    var admitted = 0
    for number in 0..<1000 {
      let address = "2001:db8::\(String(number, radix: 16)):1"
      if limiter.admit(account: "name \(number)", address: address, at: .seconds(1)) == nil {
        admitted += 1
      }
    }
    #expect(admitted == LoginLimiter.freeForAddress)
    // Another network is not limited.
    #expect(limiter.admit(account: "x", address: "2001:db8:0:1::1", at: .seconds(1)) == nil)
  }

  @Test func anIPv4AddressInIPv6FormIsItsOwnAddress() {
    var limiter = LoginLimiter()
    for number in 0..<LoginLimiter.freeForAddress {
      let address = number.isMultiple(of: 2) ? "192.0.2.1" : "::ffff:192.0.2.1"
      #expect(limiter.admit(account: "n\(number)", address: address, at: .seconds(1)) == nil)
    }
    #expect(limiter.admit(account: "x", address: "::ffff:192.0.2.1", at: .seconds(1)) != nil)
    #expect(limiter.admit(account: "x", address: "::ffff:192.0.2.2", at: .seconds(1)) == nil)
  }

  @Test func aFloodOfLoginsIsRefused() async throws {
    let checker = PasswordChecker(cost: .test)
    for _ in 0..<PasswordChecker.waitingMaximum { #expect(checker.admit()) }
    #expect(await checker.matches("a password", of: nil) == nil)
    checker.release()
    #expect(await checker.matches("a password", of: nil) == false)
    #expect(checker.admit())
    #expect(PageError.busy.status == .serviceUnavailable)
  }

  /// Attempts that start before the first one has failed also count.
  @Test func concurrentAttemptsCount() {
    var limiter = LoginLimiter()
    let waits = (0..<100).map { limiter.admit(account: "anna", address: "\($0)", at: .seconds(1)) }
    #expect(waits.count { $0 == nil } == LoginLimiter.freeForAccount)
  }

  @Test func theWaitGrows() {
    var limiter = LoginLimiter()
    var now = Duration.seconds(1)
    var longest = Duration.zero
    for attempt in 0..<40 {
      if let wait = limiter.admit(account: "anna", address: "\(attempt)", at: now) {
        #expect(wait >= longest)
        longest = wait
        now += wait
        _ = limiter.admit(account: "anna", address: "\(attempt)", at: now)
      }
    }
    #expect(longest == LoginLimiter.longestWait)
  }

  /// A flood of names and addresses uses no more memory, and does not reset the limit of another
  /// account.
  @Test func aFloodDoesNotResetALimit() {
    var limiter = LoginLimiter()
    for _ in 0..<LoginLimiter.freeForAccount {
      _ = limiter.admit(account: "anna", address: "192.0.2.1", at: .seconds(1))
    }
    for number in 0..<50_000 {
      _ = limiter.admit(account: "n\(number)", address: "a\(number)", at: .seconds(1))
    }
    #expect(limiter.admit(account: "anna", address: "192.0.2.9", at: .seconds(1)) != nil)
    #expect(MemoryLayout<LoginLimiter>.size == 16)
  }

  @Test func aSuccessDoesNotResetTheAddress() {
    var limiter = LoginLimiter()
    var guesses = 0
    for round in 0..<100 {
      guard limiter.admit(account: "own", address: "a", at: .seconds(1)) == nil else { break }
      limiter.succeeded(account: "own", address: "a")
      if limiter.admit(account: "victim \(round)", address: "a", at: .seconds(1)) == nil {
        guesses += 1
      }
    }
    #expect(guesses == LoginLimiter.freeForAddress)
  }
}
#endif
