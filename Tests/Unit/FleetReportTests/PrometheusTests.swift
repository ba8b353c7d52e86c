import Foundation
import OtaflashFleet
import OtaflashFleetReport
import OtaflashFleetSamples
import Testing

/// Tests of a run as metrics, which Prometheus' own parser for Python reads (Debian:
/// python3-prometheus-client).
@Suite struct PrometheusTests {
  private static let python = "/usr/bin/python3"

  private static func run(_ program: String, _ input: String) throws -> (status: Int32, String) {
    let (process, pipe, feed) = (Process(), Pipe(), Pipe())
    process.executableURL = URL(filePath: python)
    process.arguments = ["-c", program]
    (process.standardOutput, process.standardInput) = (pipe, feed)
    process.standardError = FileHandle.nullDevice
    try process.run()
    feed.fileHandleForWriting.write(Data(input.utf8))
    try feed.fileHandleForWriting.close()
    let output = pipe.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    return (process.terminationStatus, String(decoding: output, as: UTF8.self))
  }

  private static let hasParser: Bool = {
    do { return try run("import prometheus_client.parser", "").status == 0 } catch { return false }
  }()

  private struct Sample: Decodable, Hashable {
    let name: String
    let labels: [String: String]
    let value: Double
  }

  private static func parse(_ text: String) throws -> [Sample] {
    let program = """
      import json, sys
      from prometheus_client.parser import text_string_to_metric_families
      families = list(text_string_to_metric_families(sys.stdin.read()))
      assert all(family.documentation and family.type != 'unknown' for family in families)
      print(json.dumps([dict(name=s.name, labels=s.labels, value=s.value)
                        for family in families for s in family.samples]))
      """
    let (status, output) = try run(program, text)
    try #require(status == 0, "\(text)")
    return try JSONDecoder().decode([Sample].self, from: Data(output.utf8))
  }

  @Test(.enabled(if: hasParser, "python3-prometheus-client is not installed"))
  func prometheusReadsEverySample() throws {
    let report = try TableTests.hostile()
    let samples = try Self.parse(PrometheusReport.text(report))
    #expect(Set(samples.map(\.labels["run"])) == [report.beginning.id])
    let devices = samples.filter { $0.name == "otaflash_run_devices" }
    #expect(devices.count == report.waves.count * Outcome.allCases.count)
    for outcome in Outcome.allCases {
      let found = devices.filter { $0.labels["outcome"] == outcome.rawValue }
      #expect(Int(found.reduce(0) { $0 + $1.value }) == report.counts[outcome])
    }
    let states = samples.filter { $0.name == "otaflash_run_state" && $0.value == 1 }
    #expect(states.map(\.labels["state"]) == ["complete"])
    let start = samples.first { $0.name == "otaflash_run_start_timestamp_seconds" }
    #expect(start?.value == Double(report.began.milliseconds) / 1000)
    let attempts = samples.filter { $0.name == "otaflash_run_attempts_total" }
    let sum: Double = attempts.reduce(0) { $0 + $1.value }
    #expect(Int(sum) == report.devices.map(\.attempts.count).reduce(0, +))
  }

  /// The format permits every character in a label except three, which are escaped. Control
  /// characters are also escaped, because users display such files in terminals.
  @Test func hostileNamesAreEscaped() throws {
    for name in SampleRun.hostileNames {
      var sample = SampleRun(devices: 3, adapters: 1)
      sample.campaign = name
      let text = PrometheusReport.text(try #require(RunReport(sample.history())))
      #expect(text.hasSuffix("\n") && !text.unicodeScalars.contains { $0.value < 32 && $0 != "\n" })
      for line in text.split(separator: "\n") where !line.hasPrefix("#") {
        let quotes = line.unicodeScalars.reduce(into: (count: 0, isEscaped: false)) {
          state, scalar in
          if scalar == "\"", !state.isEscaped { state.count += 1 }
          state.isEscaped = scalar == "\\" && !state.isEscaped
        }
        #expect(quotes.count.isMultiple(of: 2) && line.contains("} "), "\(line)")
      }
    }
  }

  @Test func anUnfinishedRunHasAState() throws {
    let history = SampleRun(devices: 60, adapters: 2).history()
    let report = try #require(RunReport(Array(history.prefix(history.count / 2))))
    #expect(PrometheusReport.text(report).contains(#"state="running"} 1"#))
  }
}
