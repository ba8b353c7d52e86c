#if Sites
import OtaflashNATS
import OtaflashNATSServer
import Synchronization
import Testing

/// A server for all tests of a suite, each of which uses a separate account.
struct SharedServer: SuiteTrait, TestScoping {
  private static let accounts = 128
  @TaskLocal private static var current: (server: NATSServer, next: Counter)?

  private final class Counter: Sendable {
    private let value = Mutex(0)
    func next() -> Int {
      value.withLock {
        $0 += 1
        return $0
      }
    }
  }

  let version: NATSServer.Version

  func provideScope(
    for test: Test, testCase: Test.Case?, performing body: @Sendable () async throws -> Void
  ) async throws {
    let accounts = (1...Self.accounts).map {
      "a\($0): { jetstream: enabled, users: [{user: u\($0), password: p}] }"
    }
    let server = try await NATSServer(version, "accounts { \(accounts.joined(separator: "\n")) }")
    try await Self.$current.withValue((server, Counter())) { try await body() }
    server.kill()
  }

  struct NoServer: Error {}

  /// Returns the options of a connection to the next of 128 accounts. If a suite has at most 128
  /// tests, no two tests use the same account.
  static func account() throws -> NATSOptions {
    guard let (server, counter) = current else { throw NoServer() }
    let number = counter.next()
    var options = server.options()
    options.servers = [
      server.url.replacing("nats://", with: "nats://u\((number - 1) % accounts + 1):p@")
    ]
    return options
  }
}
#endif
