#if Sites
import Foundation
import Logging
import OtaflashFleet
import OtaflashFleetSamples
import OtaflashSitesPage
import OtaflashSitesSamples

/// Serves the page over invented runs, for tests with a browser:
/// `sites-page-samples [FOLDER [DEVICES [PORT]]]`. Prints the port and a token of each role.
let arguments = CommandLine.arguments
let folder = arguments.count > 1 ? arguments[1] : "."
let devices = arguments.count > 2 ? Int(arguments[2]) ?? 200 : 200
try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)

LoggingSystem.bootstrap(StreamLogHandler.standardError)
var logger = Logger(label: "sites-page-samples")
logger.logLevel = .warning

let environment = SitesEnvironment()
let coordinator = try SampleCoordinator(folder: folder, environment: environment)
var ended = SampleRun(devices: max(60, devices / 2), adapters: 4)
ended.id = "e1d2ed"
ended.campaign = "doors-2026-10"
ended.sites = ["Berlin", "Lisbon"]
try await coordinator.keepAtOnce(ended)
var hostile = SampleRun(devices: 60, adapters: 2)
hostile.id = "b05711"
hostile.names = SampleRun.hostileNames
hostile.campaign = SampleRun.hostileNames[1]
hostile.startedBy = SampleRun.hostileNames[0]
hostile.sites = [SampleRun.hostileNames[6], nil]
try await coordinator.keepAtOnce(hostile)
var open = SampleRun(devices: devices, adapters: 20)
open.id = "a11fe0"
open.sites = ["Berlin", "Lisbon", "Oslo"]
try await coordinator.begin(open)
try await coordinator.sites.load()

let file = AccountsFile(path: folder + "/accounts.json")
var lines: [String] = []
for role in AccountRole.allCases {
  try file.add(role.rawValue, role: role, password: "a password of \(role.rawValue)", cost: .test)
  lines.append("\(role.rawValue) \(try file.addToken("test", to: role.rawValue).text)")
}
var configuration = PageConfiguration()
configuration.port = arguments.count > 3 ? Int(arguments[3]) ?? 0 : 0
let page = try SitesPage(
  model: coordinator.sites, accounts: AccountBook(file), configuration: configuration,
  logger: logger, cost: .test)
let output = lines
try await withThrowingTaskGroup(of: Void.self) { group in
  group.addTask {
    try await page.run { port in
      FileHandle.standardOutput.write(
        Data(("port \(port)\n" + output.joined(separator: "\n") + "\n").utf8))
    }
  }
  group.addTask {
    while await environment.pause(.milliseconds(100)) { try await coordinator.step(events: 12) }
  }
  try await group.next()
  group.cancelAll()
}
#endif
