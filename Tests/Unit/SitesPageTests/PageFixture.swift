#if Sites
import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdTesting
import Logging
import OtaflashFleet
import OtaflashFleetSamples
import OtaflashFleetStore
import OtaflashSitesSamples
import Synchronization
import Testing

@testable import OtaflashSitesPage

/// Clocks that a test sets.
final class TestClocks: Sendable {
  private let state = Mutex((uptime: Duration.seconds(1000), pauses: 0))
  /// Called instead of waiting.
  private let work = Mutex<(@Sendable () async -> Void)?>(nil)

  var environment: SitesEnvironment {
    SitesEnvironment(
      wall: { SampleRun.began.advanced(by: .seconds(1_000_000) + self.uptime) },
      uptime: { self.uptime },
      pause: { duration in
        self.advance(by: duration)
        if let work = self.work.withLock({ $0 }) { await work() }
        await Task.yield()
        return !Task.isCancelled
      })
  }

  var uptime: Duration { state.withLock { $0.uptime } }
  func advance(by duration: Duration) { state.withLock { $0.uptime += duration } }
  func whileWaiting(_ body: @escaping @Sendable () async -> Void) { work.withLock { $0 = body } }
}

/// A page with a sample coordinator.
struct PageFixture: Sendable {
  static let run = "a11fe0"
  static let endedRun = "e1d2ed"

  let folder: URL
  let clocks = TestClocks()
  let coordinator: SampleCoordinator
  let accounts: AccountsFile
  let page: SitesPage
  let tokens: [AccountRole: String]

  /// - Parameter devices: the number of devices of the run that waits for an approval.
  init(devices: Int = 40, configure: (inout PageConfiguration) -> Void = { _ in }) async throws {
    folder = FileManager.default.temporaryDirectory.appending(path: "page-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    coordinator = try SampleCoordinator(folder: folder.path, environment: clocks.environment)
    var ended = SampleRun(devices: 60, adapters: 2)
    ended.id = Self.endedRun
    ended.campaign = "doors-2026-10"
    ended.sites = ["Berlin", "Lisbon"]
    try await coordinator.keepAtOnce(ended)
    var open = SampleRun(devices: devices, adapters: 2)
    open.id = Self.run
    open.sites = ["Berlin", "Lisbon", "Oslo"]
    try await coordinator.begin(open)
    try await coordinator.sites.load()
    accounts = AccountsFile(path: folder.appending(path: "accounts.json").path)
    var tokens: [AccountRole: String] = [:]
    for role in AccountRole.allCases {
      try accounts.add(role.rawValue, role: role, password: Self.password(role), cost: .test)
      tokens[role] = try accounts.addToken("test", to: role.rawValue).text
    }
    self.tokens = tokens
    var configuration = PageConfiguration()
    configure(&configuration)
    page = try SitesPage(
      model: coordinator.sites,
      accounts: AccountBook(accounts, environment: clocks.environment),
      configuration: configuration, environment: clocks.environment,
      logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }, cost: .test)
    let coordinator = coordinator
    clocks.whileWaiting {
      do { try await coordinator.step() } catch { Issue.record("\(error)") }
    }
  }

  static func password(_ role: AccountRole) -> String { "a password of \(role.rawValue)" }

  /// Runs a test with a client of the routes.
  func test(_ body: @Sendable (PageClient) async throws -> Void) async throws {
    defer { clean() }
    try await page.application().test(.router) { try await body(PageClient(client: $0, self)) }
  }

  /// Runs a test with a server on a loopback address.
  func testLive(_ body: @Sendable (PageClient) async throws -> Void) async throws {
    defer { clean() }
    try await page.application().test(.live) { try await body(PageClient(client: $0, self)) }
  }

  private func clean() {
    do { try FileManager.default.removeItem(at: folder) } catch { Issue.record("\(error)") }
  }

  func events(of run: String = PageFixture.run) throws -> [FleetEvent] {
    try coordinator.store.events(of: run).map(\.event)
  }
}

/// A client of the page: a browser or another program.
struct PageClient: Sendable {
  let client: any TestClientProtocol
  let fixture: PageFixture
  /// The cookies of the browser.
  var cookies: [String: String] = [:]

  init(client: any TestClientProtocol, _ fixture: PageFixture) {
    self.client = client
    self.fixture = fixture
  }

  func get(_ path: String, headers: HTTPFields = [:]) async throws -> TestResponse {
    try await client.executeRequest(uri: path, method: .get, headers: with(headers), body: nil)
  }

  func api(
    _ path: String, as role: AccountRole? = .viewer, method: HTTPRequest.Method = .get,
    json: String? = nil
  ) async throws -> TestResponse {
    var headers = HTTPFields()
    if let role { headers[.authorization] = "Bearer \(fixture.tokens[role] ?? "")" }
    if json != nil { headers[.contentType] = "application/json" }
    return try await client.executeRequest(
      uri: "/api/v1" + path, method: method, headers: headers,
      body: json.map { ByteBuffer(string: $0) })
  }

  func post(
    _ path: String, _ values: [(String, String)], headers: HTTPFields = [:]
  ) async throws -> TestResponse {
    var headers = with(headers)
    headers[.contentType] = "application/x-www-form-urlencoded"
    let body = values.map { "\(Address.encoded($0))=\(Address.encoded($1))" }.joined(separator: "&")
    return try await client.executeRequest(
      uri: path, method: .post, headers: headers, body: ByteBuffer(string: body))
  }

  func multipart(
    _ path: String, _ parts: [(name: String, file: String?, text: String)],
    headers: HTTPFields = [:]
  ) async throws -> TestResponse {
    var headers = with(headers)
    headers[.contentType] = "multipart/form-data; boundary=limit"
    var body = ""
    for part in parts {
      let file = part.file.map { "; filename=\"\($0)\"" } ?? ""
      body += "--limit\r\nContent-Disposition: form-data; name=\"\(part.name)\"\(file)\r\n\r\n"
      body += part.text + "\r\n"
    }
    return try await client.executeRequest(
      uri: path, method: .post, headers: headers, body: ByteBuffer(string: body + "--limit--\r\n"))
  }

  private func with(_ headers: HTTPFields) -> HTTPFields {
    var headers = headers
    if !cookies.isEmpty {
      headers[.cookie] = cookies.map { "\($0)=\($1)" }.joined(separator: "; ")
    }
    return headers
  }

  /// Stores the cookies of a response.
  mutating func keep(_ response: TestResponse) {
    for field in response.headers[values: .setCookie] {
      let pair = field.split(separator: ";")[0].split(
        separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      cookies[String(pair[0])] = pair[1].isEmpty ? nil : String(pair[1])
    }
  }

  /// Sends the login form.
  mutating func tryLogin(
    _ account: String, _ password: String, next: String = "/"
  ) async throws -> TestResponse {
    let form = try await get("/login")
    keep(form)
    let response = try await post(
      "/login",
      [
        ("form-token", try form.formToken), ("account", account), ("password", password),
        ("next", next),
      ])
    keep(response)
    return response
  }

  /// A browser whose user has logged in.
  func loggedIn(as role: AccountRole) async throws -> PageClient {
    var client = self
    let response = try await client.tryLogin(role.rawValue, PageFixture.password(role))
    #expect(response.status == .seeOther)
    return client
  }

  /// Fills in and sends the confirmation of a command.
  func perform(
    _ action: String, on run: String = PageFixture.run, reason: String = "as agreed"
  ) async throws -> TestResponse {
    let form = try await get("/runs/\(run)/\(action)")
    #expect(form.status == .ok, "\(action): \(form.text.prefix(600))")
    return try await post(
      "/runs/\(run)/\(action)",
      [
        ("form-token", try form.formToken), ("state", try form.field("state")), ("reason", reason),
      ])
  }
}

extension TestResponse {
  var text: String { String(buffer: body) }

  var formToken: String { get throws { try field("form-token") } }

  func field(_ name: String) throws -> String {
    let found = try #require(
      text.firstMatch(of: try Regex("name=\"\(name)\" value=\"([^\"]*)\"")),
      "the page has a field \(name)")
    return String(found.output[1].substring ?? "")
  }

  func json() throws -> [String: Any] {
    try #require(
      try JSONSerialization.jsonObject(with: Data(buffer: body)) as? [String: Any], "\(text)")
  }
}

extension Data {
  fileprivate init(buffer: ByteBuffer) { self.init(buffer.readableBytesView) }
}
#endif
