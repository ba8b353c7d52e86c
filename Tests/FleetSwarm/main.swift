// What a fleet of simulated boards costs, and whether each of them ends as it says itself.
//
//   fleet-swarm [DEVICES [ADAPTERS [BAD% [PLACES]]]]
//   fleet-swarm --learned [DEVICES]
//   fleet-swarm --forecast [DEVICES [SEEDS]]
//   fleet-swarm --patches [DEVICES]
//
// 10,000 devices on 20 adapters unless told otherwise, BAD% of which take the new image back; as many
// PLACES on an adapter as were learned. Images of 64 KiB without response, 1 % of the packets lost, in
// virtual time; the links of an adapter share its radio. Exit status 1 when a device ended otherwise than it
// says.
//
// With --learned: what the learned number of places brings on one adapter, against fixed ones; exit status 1
// where it is less than nine tenths of the best. With --forecast: how long a forecast takes, and how near it
// comes to runs of the same campaign. With --patches: what patches of 16 % bring on one adapter; exit status 1
// where one of the first two rows has less than four times as many devices an hour.

import Glibc

/// Counts are digits; anything else ends the program with its usage.
func counts(_ words: ArraySlice<String>, upTo maximum: Int) -> [Int] {
  let counts = words.compactMap { Int($0).flatMap { $0 < 0 ? nil : $0 } }
  guard counts.count == words.count, counts.count <= maximum, counts.first != 0 else {
    print(
      """
      usage: fleet-swarm [DEVICES [ADAPTERS [BAD% [PLACES]]]]
             fleet-swarm --learned [DEVICES]
             fleet-swarm --forecast [DEVICES [SEEDS]]
             fleet-swarm --patches [DEVICES]
      """)
    exit(64)
  }
  return counts
}

let words = CommandLine.arguments.dropFirst()
switch words.first {
case "--learned":
  let places = LearnedPlaces(devices: counts(words.dropFirst(), upTo: 1).first ?? 300)
  var isGood = true
  for profile in LearnedPlaces.profiles {
    let row = try places.row(of: profile)
    print(row.line)
    fflush(nil)
    isGood = isGood && row.learnedShare >= 0.9
  }
  exit(isGood ? 0 : 1)
case "--forecast":
  let counts = counts(words.dropFirst(), upTo: 2)
  let check = ForecastCheck(
    devices: counts.first ?? 1000, seeds: counts.dropFirst().first ?? 20)
  for line in try await check.lines() { print(line) }
  exit(0)
case "--patches":
  let patches = PatchGain(devices: counts(words.dropFirst(), upTo: 1).first ?? 20)
  var gains: [Double] = []
  for profile in PatchGain.profiles {
    let row = try patches.row(of: profile)
    print(row.line)
    fflush(nil)
    gains.append(row.gain)
  }
  exit(gains.prefix(2).allSatisfy { $0 >= 4 } ? 0 : 1)
default:
  let counts = counts(words, upTo: 4)
  let scale = SwarmScale(
    devices: counts.first ?? 10_000, adapters: counts.dropFirst().first ?? 20,
    badPercent: counts.dropFirst(2).first ?? 0, places: counts.dropFirst(3).first)
  let outcome = try FleetSwarm(scale).run()
  for line in outcome.lines { print(line) }
  exit(outcome.wrong.isEmpty ? 0 : 1)
}
