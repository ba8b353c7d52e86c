// What a fleet of simulated boards costs, and whether each of them ends as it says itself.
//
//   fleet-swarm [DEVICES [ADAPTERS [BAD% [PLACES]]]]
//   fleet-swarm --learned [DEVICES]
//   fleet-swarm --forecast [DEVICES [SEEDS]]
//
// 10,000 devices on 20 adapters unless told otherwise, BAD% of which take the new image back; as many
// PLACES on an adapter as were learned. Images of 64 KiB without response, 1 % of the packets lost, in
// virtual time; the links of an adapter share its radio. Exit status 1 when a device ended otherwise than it
// says.
//
// With --learned: what the learned number of places brings on one adapter, against fixed ones; exit status 1
// where it is less than nine tenths of the best. With --forecast: how long a forecast takes, and how near it
// comes to runs of the same campaign.

import Glibc

let words = Array(CommandLine.arguments.dropFirst())
if words.first == "--learned" {
  let places = LearnedPlaces(devices: words.dropFirst().first.flatMap { Int($0) } ?? 300)
  var isGood = true
  for profile in LearnedPlaces.profiles {
    let row = try places.row(of: profile)
    print(row.line)
    fflush(nil)
    isGood = isGood && row.learnedShare >= 0.9
  }
  exit(isGood ? 0 : 1)
}
if words.first == "--forecast" {
  let counts = words.dropFirst().map { Int($0) ?? 1 }
  for line in try await ForecastCheck(
    devices: counts.first ?? 1000, seeds: counts.dropFirst().first ?? 20
  ).lines() {
    print(line)
  }
  exit(0)
}
let numbers = words.map { Int($0) ?? 0 }
let scale = SwarmScale(
  devices: numbers.first ?? 10_000, adapters: numbers.dropFirst().first ?? 20,
  badPercent: numbers.dropFirst(2).first ?? 0, places: numbers.dropFirst(3).first)
let outcome = try FleetSwarm(scale).run()
for line in outcome.lines { print(line) }
exit(outcome.wrong.isEmpty ? 0 : 1)
