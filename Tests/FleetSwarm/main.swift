// What a fleet of simulated boards costs, and whether each of them ends as it says itself.
//
//   fleet-swarm [DEVICES [ADAPTERS [BAD% [PLACES]]]]
//
// 10,000 devices on 20 adapters unless told otherwise, BAD% of which take the new image back; as many
// PLACES on an adapter as were learned. Images of 64 KiB without response, 1 % of the packets lost, in
// virtual time; each link has the air for itself. Exit status 1 when a device ended otherwise than it
// says.

import Glibc
import OtaflashFirmware
import OtaflashFleet
import OtaflashFleetEngine
import OtaflashGATT
import OtaflashSimulation

let words = CommandLine.arguments.dropFirst().map { Int($0) ?? 0 }
let scale = SwarmScale(
  devices: words.first ?? 10_000, adapters: words.dropFirst().first ?? 20,
  badPercent: words.dropFirst(2).first ?? 0, places: words.dropFirst(3).first)
let outcome = try FleetSwarm(scale).run()
for line in outcome.lines { print(line) }
exit(outcome.wrong.isEmpty ? 0 : 1)
