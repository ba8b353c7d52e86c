import Foundation
import OtaflashFleetReport
import OtaflashFleetSamples

/// Writes reports of runs that never were into a folder: for a browser, and for people to look at.
let folder = URL(filePath: CommandLine.arguments.dropFirst().first ?? ".")
try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)

var hostile = SampleRun(devices: 60, adapters: 2)
hostile.names = SampleRun.hostileNames
hostile.campaign = SampleRun.hostileNames[1]
hostile.startedBy = SampleRun.hostileNames[0]
let samples = [
  ("three", SampleRun(devices: 3, adapters: 1)), ("sixty", SampleRun(devices: 60, adapters: 2)),
  ("hostile", hostile), ("ten-thousand", SampleRun(devices: 10_000, adapters: 20)),
]
for (name, sample) in samples {
  guard let report = RunReport(sample.history()) else { preconditionFailure("it has begun") }
  let texts = [("csv", CSVReport.text(report)), ("xml", JUnitReport.text(report))]
  for (ending, text) in texts {
    try Data(text.utf8).write(to: folder.appending(path: "\(name).\(ending)"))
  }
}
