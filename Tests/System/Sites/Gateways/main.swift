// Runs many gateways with simulated boards in one process, as a load for a coordinator.
//
//   site-gateways --nats URL[,URL…] --gateways N --sites N --boards N [--parallel N] [--speed N]
//     [--settings KEYS] IMAGE
//
// --boards is the number of boards of each site. The gateways belong to the sites in turn, and the
// sites are site-1 and so on. A device unix:/NAME/board-0001 is the board of this name of the site.
// At the end of standard input, prints a JSON object with three numbers of boards: those that run
// the image, those with overlapping writers (WriterWatch), and those to which several gateways
// wrote.

#if Sites
import Foundation
import OtaflashBlueZ
import OtaflashFirmware
import OtaflashGATT

func usage() -> Never {
  print(
    """
    usage: site-gateways --nats URL[,URL…] --gateways N --sites N --boards N [--parallel N] [--speed N]
           [--settings KEYS] IMAGE
    """)
  exit(64)
}

var options = [
  "--nats": "", "--gateways": "", "--sites": "", "--boards": "", "--parallel": "4", "--speed": "1",
  "--settings": "&kinds=fast&slot=64K&boot=50ms&delta=no",
]
var file = ""
var words = CommandLine.arguments.dropFirst()
while let word = words.popFirst() {
  if options[word] == nil { file = word } else { options[word] = words.popFirst() ?? "" }
}
@MainActor func number(_ name: String) -> Int {
  guard let value = options[name].flatMap({ Int($0) }), value > 0 else { usage() }
  return value
}

let bytes = [UInt8](try Data(contentsOf: URL(filePath: file)))
let servers = (options["--nats"] ?? "").split(separator: ",").map(String.init)
let fleet = try GatewayFleet(
  servers: servers, gateways: number("--gateways"), sites: number("--sites"),
  boards: number("--boards"), settings: options["--settings"] ?? "", speed: number("--speed"),
  parallel: number("--parallel"),
  image: FirmwareImage(
    name: "app.bin", format: .binary, bytes: bytes, version: FirmwareVersion(1, 3, 0),
    hardware: HardwareID(0x0000_A001)))
let ended = OneShot<Void>()
Thread.detachNewThread {
  while readLine() != nil {}
  ended.fulfil(())
}
let gateways = fleet
_ = await withTaskExecutorPreference(EventLoop.shared) {
  await runCancellably(until: ended) { await gateways.run() }
}
print(gateways.summary)
#else
print("build with --traits Sites")
#endif
