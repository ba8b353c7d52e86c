#if Sites
import OtaflashBlueZ
import OtaflashFleet
import OtaflashGATT
import OtaflashNATS
import OtaflashSites

/// The exchange over a server, with a connection for the coordinator and some for the workers.
struct Broker {
  /// Several sites share a connection, as otherwise the client's threads would be measured.
  private static let connections = 4

  let leader: SiteCoordinator
  let coordinator: JetStreamExchange
  private let streams: [JetStream]
  private let clock = EventLoopClock()

  /// - Parameter sites: the names of the sites.
  init(_ url: String, sites: [String]) async throws {
    func stream() async throws -> JetStream {
      try JetStream(
        try await NATSConnection(
          NATSOptions(servers: [url], name: "dispatch"), clock: ContinuousClock()))
    }
    let own = try await stream()
    var others: [JetStream] = []
    for _ in 0..<Self.connections { others.append(try await stream()) }
    streams = others
    try await SiteStreams.create(on: own)
    try await SiteStreams.createConsumers(of: sites, on: own)
    let clock = clock
    leader = try SiteCoordinator(own, clock: clock, elapsed: { clock.now.elapsed })
    coordinator = try JetStreamExchange(own, clock: clock, coordinator: leader)
  }

  /// The exchange of the workers of a site.
  func workers(of site: Int) -> any JobExchange {
    do { return try JetStreamExchange(streams[site % streams.count], clock: clock) } catch {
      preconditionFailure("the names of buckets are valid: \(error)")
    }
  }
}
#endif
