import OtaflashFleet

/// The requirements for every implementation of `JobExchange`, such as a local store or a message
/// broker. Each case needs a new exchange.
package struct ExchangeConformance: Sendable, CustomStringConvertible {
  package typealias Body = @Sendable (any ConformanceBench) async throws -> Void

  package let name: String
  private let body: Body

  init(_ name: String, _ body: @escaping Body) {
    self.name = name
    self.body = body
  }

  package var description: String { name }

  /// - Throws: `ConformanceFailure`, and unexpected errors of the exchange.
  package func check(_ bench: any ConformanceBench) async throws {
    try await bench.coordinator.open("r")
    try await body(bench)
  }

  package static let cases: [ExchangeConformance] =
    [
      publication, claims, polls, leases, endings, lateness, searches, recalls, facts, records,
      runs, restarts,
    ].flatMap(\.self)
}

package struct ConformanceFailure: Error, CustomStringConvertible {
  let what: String
  let line: Int

  package var description: String { "not fulfilled: \(what) (line \(line))" }
}
