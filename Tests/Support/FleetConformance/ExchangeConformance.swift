import OtaflashFleet

/// The requirements for every implementation of `JobExchange`, such as a local store or a message
/// broker. Each case needs a new exchange.
package struct ExchangeConformance: Sendable, CustomStringConvertible {
  package typealias Body = @Sendable (any JobExchange) async throws -> Void

  package let name: String
  private let body: Body

  init(_ name: String, _ body: @escaping Body) {
    self.name = name
    self.body = body
  }

  package var description: String { name }

  /// - Throws: `ConformanceFailure`, and unexpected errors of the exchange.
  package func check(_ exchange: any JobExchange) async throws { try await body(exchange) }

  package static let cases: [ExchangeConformance] =
    publication + claims + leases + endings + recalls + rest

  // MARK: Parts of the cases

  static let worker = FleetWorker(name: "a")
  static let other = FleetWorker(name: "b")
  static let lease = Duration.seconds(45)

  static func time(_ seconds: Int64) -> WallClockTime {
    WallClockTime(milliseconds: seconds * 1000)
  }

  static func job(_ device: String, attempt: Int = 1, site: String? = nil) -> UpdateJob {
    UpdateJob(
      id: UpdateJob.ID(run: "r", device: device, attempt: attempt), site: site, image: "i",
      verifyFirst: attempt > 1)
  }

  static func expect(
    _ holds: Bool, _ what: String, line: Int = #line
  ) throws(ConformanceFailure) {
    guard holds else { throw ConformanceFailure(what: what, line: line) }
  }

  static func claim(
    _ exchange: any JobExchange, at seconds: Int64 = 0, for worker: FleetWorker = worker
  ) async throws -> JobClaim {
    let claim = try await exchange.claim(for: worker, now: time(seconds), lease: lease)
    guard let claim else { throw ConformanceFailure(what: "a job can be claimed", line: #line) }
    return claim
  }

  static func expectLost(
    line: Int = #line, _ body: () async throws(ExchangeFault) -> Void
  ) async throws(ConformanceFailure) {
    do throws(ExchangeFault) { try await body() } catch .claimLost { return } catch {
      throw ConformanceFailure(what: "the claim is lost, but: \(error)", line: line)
    }
    throw ConformanceFailure(what: "the claim is lost", line: line)
  }

  static func facts(
    _ exchange: any JobExchange, at seconds: Int64 = 0
  ) async throws -> [FleetEvent] {
    try await exchange.facts(after: 0, now: time(seconds), limit: 1000).map(\.event)
  }

  static func placed(_ device: String) -> FleetEvent {
    .devicePlaced(device: device, attempt: 1, adapter: "hci0")
  }

  static func activating(_ device: String) -> FleetEvent {
    .deviceActivating(device: device, attempt: 1)
  }

  static func ended(_ device: String, _ ending: AttemptEnding) -> FleetEvent {
    .attemptEnded(device: device, attempt: 1, ending: ending)
  }
}

package struct ConformanceFailure: Error, CustomStringConvertible {
  let what: String
  let line: Int

  package var description: String { "not fulfilled: \(what) (line \(line))" }
}
