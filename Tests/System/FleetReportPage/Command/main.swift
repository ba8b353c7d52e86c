#if Fleet
import Foundation
import OtaflashFleet
import OtaflashFleetReport
import OtaflashFleetSamples

/// Writes reports of invented runs to a folder, for tests with a browser and for inspection.
let folder = URL(filePath: CommandLine.arguments.dropFirst().first ?? ".")
try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)

var hostile = SampleRun(devices: 60, adapters: 2)
hostile.names = SampleRun.hostileNames
hostile.campaign = SampleRun.hostileNames[1]
hostile.startedBy = SampleRun.hostileNames[0]
hostile.sites = [SampleRun.hostileNames[6], nil]
var thousand = SampleRun(devices: 1000, adapters: 20)
thousand.sites = ["Berlin", "Lisbon"]
var many = SampleRun(devices: 10_000, adapters: 20)
many.sites = ["Berlin", "Lisbon"]
let sixty = SampleRun(devices: 60, adapters: 2)
let samples = [
  ("three", SampleRun(devices: 3, adapters: 1).history()), ("sixty", sixty.history()),
  ("half-way", Array(sixty.history().prefix(180))), ("hostile", hostile.history()),
  ("thousand", thousand.history()), ("ten-thousand", many.history()),
]
for (name, history) in samples {
  guard let report = RunReport(history) else { preconditionFailure("the run has started") }
  var surroundings = ReportSurroundings(
    program: "otaflash 1.4.0", written: report.last.advanced(by: .seconds(60)))
  surroundings.chain = .init(events: report.events, head: (0..<32).map { UInt8($0 * 7) })
  surroundings.verification = "otaflash fleet report \(report.beginning.id) --verify"
  surroundings.air = .init(bytesPerSecond: 88_000, words: "2M, 15 ms, with response")
  let texts = [
    ("html", HTMLReport.text(report, in: surroundings)), ("csv", CSVReport.text(report)),
    ("xml", JUnitReport.text(report)),
  ]
  for (ending, text) in texts {
    try Data(text.utf8).write(to: folder.appending(path: "\(name).\(ending)"))
  }
}
#endif
