import Foundation
import OtaflashFleet
import OtaflashFleetReport
import OtaflashFleetSamples
import Testing

/// Tests of tables for other programs, which Python's parsers read.
@Suite struct TableTests {
  static func hostile() throws -> RunReport {
    var sample = SampleRun(devices: 60, adapters: 2)
    sample.names = SampleRun.hostileNames
    sample.campaign = SampleRun.hostileNames[1]
    return try #require(RunReport(sample.history()))
  }

  /// Returns the output of a Python program, whose argument is a file that contains `input`.
  static func python(_ program: String, _ input: String) throws -> String {
    let folder = FileManager.default.temporaryDirectory.appending(
      path: "report-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { do { try FileManager.default.removeItem(at: folder) } catch { print("\(error)") } }
    let file = folder.appending(path: "input")
    try Data(input.utf8).write(to: file)
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments = ["python3", "-c", program, file.path]
    let pipe = Pipe()
    process.standardOutput = pipe
    try process.run()
    let output = pipe.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    #expect(process.terminationStatus == 0)
    return String(decoding: output, as: UTF8.self)
  }

  @Test func pythonReadsTheSpreadsheetsTable() throws {
    let report = try Self.hostile()
    let text = CSVReport.text(report)
    let program = """
      import csv, json, sys
      print(json.dumps(list(csv.reader(open(sys.argv[1], newline='', encoding='utf-8'), strict=True))))
      """
    let rows = try JSONDecoder().decode(
      [[String]].self, from: Data(try Self.python(program, text).utf8))
    #expect(rows.count == 61 && Set(rows.map(\.count)) == [25])
    let names = rows.dropFirst().map { $0[1] }
    #expect(names[0] == "<script>alert(1)</script>" && names[1] == SampleRun.hostileNames[1])
    #expect(names[6] == "right\\u202etfel\\u2066" && names[14] == "two\\u000d\\u000alines")
    #expect(names[8] == "'=HYPERLINK(\"http://x\")")
    #expect(names[9] == "'+1" && names[10] == "'-1" && names[11] == "'@SUM(1)")
    #expect(!rows.joined().contains { "=+-@".contains($0.first ?? " ") })
    #expect(Set(rows.dropFirst().map { $0[5] }).isSuperset(of: ["succeeded", "failed"]))
    // The file ends with the line end of the last row; each row ends with a line end.
    #expect(text.hasSuffix("\r\n") && text.utf8.count { $0 == 10 } == 61)
  }

  @Test func pythonReadsTheTestResults() throws {
    let report = try Self.hostile()
    let program = """
      import json, sys, xml.etree.ElementTree as tree
      root = tree.parse(sys.argv[1]).getroot()
      suites = root.findall('testsuite')
      cases = root.findall('testsuite/testcase')
      print(json.dumps({
        'counts': [root.get('name'), root.get('tests'), root.get('failures'), root.get('errors')],
        'suites': [[s.get('name'), s.get('tests')] for s in suites],
        'tests': [str(sum(int(s.get(k)) for s in suites)) for k in ('tests', 'failures', 'errors')],
        'names': [c.get('name') for c in cases],
        'found': [[c.tag for c in case] for case in cases]}))
      """
    struct Read: Decodable {
      let counts, tests, names: [String]
      let suites, found: [[String]]
    }
    let read = try JSONDecoder().decode(
      Read.self, from: Data(try Self.python(program, JUnitReport.text(report)).utf8))
    #expect(read.counts[0] == SampleRun.hostileNames[1])
    #expect(Array(read.counts.dropFirst()) == read.tests && read.counts[1] == "60")
    #expect(read.suites == [["canary", "3"], ["half", "27"], ["rest", "30"]])
    #expect(read.names[0] == SampleRun.hostileNames[0])
    #expect(read.names[7] == "bell\\u0007null\\u0000esc\\u001b[31m")
    #expect(read.names[12] == SampleRun.hostileNames[12])
    for (device, found) in zip(report.devices, read.found) {
      switch device.outcome {
      case .succeeded: #expect(found.isEmpty)
      case .failed: #expect(found == ["failure"])
      case .unseen, .neutral: #expect(found == ["error"])
      case .running, .waiting, .leftOut: #expect(found == ["skipped"])
      }
    }
    #expect(Set(read.found) == [[], ["failure"], ["error"]])
  }

  @Test func devicesWithoutAnOutcomeAreSkipped() throws {
    let history = SampleRun(devices: 60, adapters: 2).history()
    let report = try #require(RunReport(Array(history.prefix(history.count / 2))))
    let open = report.counts[.waiting] + report.counts[.running]
    #expect(open > 10)
    #expect(JUnitReport.text(report).components(separatedBy: "<skipped ").count - 1 == open)
  }
}
