// Measures the cost of a campaign over simulated boards, and compares each outcome with the state
// of its board.
//
//   fleet-swarm [DEVICES [ADAPTERS [BAD% [PLACES]]]]
//   fleet-swarm --learned [DEVICES]
//   fleet-swarm --forecast [DEVICES [SEEDS]]
//   fleet-swarm --patches [DEVICES]
//
// Defaults: 10,000 devices, 20 adapters, an automatic number of PLACES (concurrent transfers) on an
// adapter. BAD% of the devices revert the new image. Images have 64 KiB and are sent without
// response in virtual time; 1 % of the packets are lost, and the links of an adapter share its
// radio. Exit code 1: the outcome of a device differs from its board.
//
// --learned compares the automatic number of places on one adapter with fixed numbers. Exit code 1:
// its rate is less than nine tenths of the best.
// --forecast measures the time of a forecast, and compares it with runs of the same campaign.
// --patches measures the gain of patches of 16 % on one adapter. Exit code 1: one of the first two
// rows has less than four times as many devices per hour.

import Glibc

/// Parses counts; prints the usage and ends the program if a word is not a count, there are too
/// many words, or the first count is 0.
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
