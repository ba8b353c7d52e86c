// Measures how many jobs per second a coordinator dispatches, with a flush of its event log for
// each commit. The workers end each job immediately.
//
//   site-dispatch [--devices N] [--sites N] [--workers N] [--ahead N] [--nats URL] [--compare]
//                 STORE
//
// STORE is the event log, a new file. Without --nats, the workers are in the process of the
// coordinator. Prints the number of jobs per second. --compare first measures an event log that
// flushes each event separately, and prints the ratio.

#if Sites
import Foundation
import OtaflashBlueZ
import OtaflashFleet
import OtaflashFleetStore
import OtaflashGATT

func usage() -> Never {
  print(
    "usage: site-dispatch [--devices N] [--sites N] [--workers N] [--ahead N] [--nats URL] "
      + "[--compare] STORE")
  exit(64)
}

var scale = Dispatch.Scale()
var server: String?
var store: String?
var compares = false
var words = CommandLine.arguments.dropFirst()
while let word = words.popFirst() {
  switch word {
  case "--devices": scale.devices = words.popFirst().flatMap { Int($0) } ?? 0
  case "--sites": scale.sites = words.popFirst().flatMap { Int($0) } ?? 0
  case "--workers": scale.workers = words.popFirst().flatMap { Int($0) } ?? 0
  case "--ahead": scale.ahead = words.popFirst().flatMap { Int($0) } ?? 0
  case "--nats": server = words.popFirst()
  case "--compare": compares = true
  default: store = word
  }
}
guard let store, scale.devices > 0, scale.sites > 0, scale.workers > 0 else { usage() }

/// Runs one campaign with an event log in a new file.
@MainActor func measure(
  _ path: String, _ wrapped: (any EventLedger) -> any EventLedger
) async throws -> Dispatch.Result {
  let ledger = wrapped(try FleetStore(path: path).ledger(of: "dispatch"))
  let scale = scale
  guard let server else {
    let exchange = MemoryExchange(clock: EventLoopClock())
    return try await Dispatch(
      scale: scale, exchange: exchange, connection: { _ in exchange }, ledger: ledger
    ).run()
  }
  let broker = try await Broker(server, sites: (0..<scale.sites).map { Dispatch.site($0) })
  let dispatch = Dispatch(
    scale: scale, exchange: broker.coordinator, connection: { broker.workers(of: $0) },
    ledger: ledger)
  return try await withService {
    await broker.leader.serve()
  } _: { () async throws -> Dispatch.Result in
    try await dispatch.run()
  }
}

@MainActor func show(_ result: Dispatch.Result, _ remark: String = "") {
  print(
    "\(result.jobs) jobs of \(scale.sites) sites in \(result.took): "
      + "\(result.jobsPerSecond) jobs/s\(remark)")
}

let single = compares ? try await measure(store + "-single") { SingleCommits(base: $0) } : nil
if let single { show(single, ", each event flushed separately") }
let result = try await measure(store) { $0 }
show(result)
if let single {
  let ratio = (single.took / .seconds(1)) / (result.took / .seconds(1))
  print("\((ratio * 10).rounded() / 10) times as fast")
}
#else
print("build with --traits Sites")
#endif
