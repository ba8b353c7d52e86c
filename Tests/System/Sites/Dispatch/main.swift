// Measures how many jobs per second a coordinator dispatches, with a flush of its event log for each
// commit. The workers end each job immediately.
//
//   site-dispatch [--devices N] [--sites N] [--workers N] [--ahead N] [--nats URL] STORE
//
// STORE is the event log, a new file. Without --nats, the workers are in the process of the
// coordinator. Prints the number of jobs per second.

#if Sites
import Foundation
import OtaflashBlueZ
import OtaflashFleet
import OtaflashFleetStore
import OtaflashGATT

func usage() -> Never {
  print(
    "usage: site-dispatch [--devices N] [--sites N] [--workers N] [--ahead N] [--nats URL] STORE")
  exit(64)
}

var scale = Dispatch.Scale()
var server: String?
var store: String?
var words = CommandLine.arguments.dropFirst()
while let word = words.popFirst() {
  switch word {
  case "--devices": scale.devices = words.popFirst().flatMap { Int($0) } ?? 0
  case "--sites": scale.sites = words.popFirst().flatMap { Int($0) } ?? 0
  case "--workers": scale.workers = words.popFirst().flatMap { Int($0) } ?? 0
  case "--ahead": scale.ahead = words.popFirst().flatMap { Int($0) } ?? 0
  case "--nats": server = words.popFirst()
  default: store = word
  }
}
guard let store, scale.devices > 0, scale.sites > 0, scale.workers > 0 else { usage() }
let ledger = try FleetStore(path: store).ledger(of: "dispatch")
let result: Dispatch.Result
if let server {
  let broker = try await Broker(server, sites: (0..<scale.sites).map { Dispatch.site($0) })
  let dispatch = Dispatch(
    scale: scale, exchange: broker.coordinator, connection: { broker.workers(of: $0) },
    ledger: ledger)
  result = try await withService {
    await broker.leader.serve()
  } _: { () async throws -> Dispatch.Result in
    try await dispatch.run()
  }
} else {
  let exchange = MemoryExchange(clock: EventLoopClock())
  result = try await Dispatch(
    scale: scale, exchange: exchange, connection: { _ in exchange }, ledger: ledger
  ).run()
}
print(
  "\(result.jobs) jobs of \(scale.sites) sites in \(result.took): \(result.jobsPerSecond) jobs/s")
#else
print("build with --traits Sites")
#endif
