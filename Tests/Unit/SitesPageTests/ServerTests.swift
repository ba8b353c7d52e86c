#if Sites
import Foundation
import HTTPTypes
import HummingbirdTLS
import HummingbirdTesting
import OtaflashFleet
import OtaflashFleetSamples
import Synchronization
import Testing

@testable import OtaflashSitesPage

/// The page as a server: TLS, and the end by cancellation.
@Suite struct ServerTests {
  private static func openssl(_ arguments: String...) throws {
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/openssl")
    process.arguments = arguments
    process.standardError = FileHandle.nullDevice
    try process.run()
    process.waitUntilExit()
    #expect(process.terminationStatus == 0)
  }

  /// Serves a page while `body` runs, and requires that it ends by cancellation.
  private static func serve(
    _ page: SitesPage, _ body: @escaping @Sendable (Int) async throws -> Void
  ) async throws {
    let (ports, port) = AsyncStream.makeStream(of: Int.self)
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { try await page.run { port.yield($0) } }
      group.addTask {
        for await number in ports { return try await body(number) }
      }
      try await group.next()
      group.cancelAll()
      try await group.waitForAll()
    }
  }

  @Test func withTLSTheConnectionIsRequired() async throws {
    let fixture = try await PageFixture()
    let (key, certificate) = (fixture.folder.path + "/k.pem", fixture.folder.path + "/c.pem")
    try Self.openssl(
      "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout",
      key, "-out", certificate, "-subj", "/CN=localhost", "-addext",
      "subjectAltName=DNS:localhost", "-days", "2")
    var configuration = PageConfiguration()
    configuration.port = 0
    configuration.tls = .init(certificates: certificate, privateKey: key)
    let page = try SitesPage(
      model: fixture.coordinator.sites, accounts: AccountBook(fixture.accounts),
      configuration: configuration, cost: .test)
    try await Self.serve(page) { port in
      var trust = TLSConfiguration.makeClientConfiguration()
      trust.trustRoots = .file(certificate)
      try await TestClient.withClient(
        host: "127.0.0.1", port: port,
        configuration: .init(tlsConfiguration: trust, serverName: "localhost")
      ) { client in
        let response = try await client.get("/login")
        #expect(response.status == .ok)
        #expect(response.headers[.strictTransportSecurity] == "max-age=31536000")
        let cookies = response.headers[values: .setCookie]
        #expect(!cookies.isEmpty)
        #expect(cookies.allSatisfy { $0.hasPrefix("__Host-") && $0.hasSuffix("; Secure") })
      }
      // Without TLS there is no answer.
      let plain = try await RawRequest(port: port).send("GET /login", host: "localhost")
      #expect(!plain.contains("HTTP/1.1 200"))
    }
  }

  @Test func aUsedPortIsReported() async throws {
    let fixture = try await PageFixture()
    var configuration = PageConfiguration()
    configuration.port = 0
    let accounts = try AccountBook(fixture.accounts)
    let page = try SitesPage(
      model: fixture.coordinator.sites, accounts: accounts, configuration: configuration,
      cost: .test)
    try await Self.serve(page) { port in
      var configuration = PageConfiguration()
      configuration.port = port
      let second = try SitesPage(
        model: fixture.coordinator.sites, accounts: accounts, configuration: configuration,
        cost: .test)
      let fault = await #expect(throws: PageFault.self) { try await second.run() }
      #expect("\(try #require(fault))".contains("cannot listen on 127.0.0.1, port \(port)"))
    }
  }

  @Test func thePageEndsByCancellationWithAnOpenStream() async throws {
    let fixture = try await PageFixture()
    let clocks = fixture.clocks
    var configuration = PageConfiguration()
    configuration.port = 0
    // The first pause of the stream ends the test.
    let (pauses, pause) = AsyncStream.makeStream(of: Void.self)
    var environment = clocks.environment
    environment.pause = { _ in
      pause.yield()
      do {
        try await Task.sleep(for: .seconds(600))
        return true
      } catch {
        return false
      }
    }
    let page = try SitesPage(
      model: fixture.coordinator.sites, accounts: AccountBook(fixture.accounts),
      configuration: configuration, environment: environment, cost: .test)
    let key = page.services.sessions.withLock { $0.begin(for: "viewer", at: clocks.uptime) }
    let answers = Mutex<Task<String, any Error>?>(nil)
    try await Self.serve(page) { port in
      answers.withLock {
        $0 = Task {
          try await RawRequest(port: port).send(
            "GET /events", host: "localhost",
            headers: ["Accept: text/event-stream", "Cookie: otaflash-session=\(key.text)"])
        }
      }
      // The stream is open now; it ends with the page.
      for await _ in pauses { break }
    }
    let answer = try #require(answers.withLock { $0 })
    #expect(try await answer.value.contains("event: parts"))
  }
}
#endif
