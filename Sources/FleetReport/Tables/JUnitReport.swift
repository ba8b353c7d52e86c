import OtaflashFleet

/// The report as a test suite for each wave with a test case for each device, for continuous
/// integration (Jenkins' schema of JUnit XML).
///
/// A failed device or link is a *failure*. A device that was not found, or whose update failed on
/// the host, is an *error*, because its image could not be tested. A device that the campaign
/// excluded, or that has no final outcome, is *skipped*.
package enum JUnitReport {
  package static func text(_ report: RunReport) -> String {
    var xml = XMLText()
    let totals = Totals(report.devices)
    xml.open(
      "testsuites",
      [("name", report.beginning.campaign)] + totals.attributes
        + [("time", report.milliseconds)]
        .map { ($0.0, CSVReport.seconds($0.1)) })
    for (number, wave) in report.waves.enumerated() {
      suite(wave, number: number, of: report, in: &xml)
    }
    xml.close("testsuites")
    return xml.text
  }

  private struct Totals {
    var (tests, failures, errors, skipped) = (0, 0, 0, 0)

    init(_ devices: some Sequence<DeviceReport>) {
      for device in devices {
        tests += 1
        switch device.testResult {
        case .passed: break
        case .failure: failures += 1
        case .error: errors += 1
        case .skipped: skipped += 1
        }
      }
    }

    /// The attributes that the element `testsuites` also has.
    var attributes: [(String, String)] {
      [("tests", String(tests)), ("failures", String(failures)), ("errors", String(errors))]
    }
  }

  private static func suite(
    _ wave: WaveReport, number: Int, of report: RunReport, in xml: inout XMLText
  ) {
    let devices = report.devices[wave.devices]
    let totals = Totals(devices)
    let began = wave.times.began ?? report.began
    let end = devices.compactMap(\.settled).max() ?? report.last
    let time = wave.times.began == nil ? 0 : max(end.milliseconds - began.milliseconds, 0)
    xml.open(
      "testsuite",
      [("name", wave.name), ("id", String(number))] + totals.attributes + [
        ("skipped", String(totals.skipped)), ("time", CSVReport.seconds(time)),
        // The schema permits no time zone.
        ("timestamp", String(CalendarTime.text(began).dropLast())),
      ])
    for device in devices { testCase(device, in: wave, of: report, in: &xml) }
    xml.element("system-out", [], "\(wave.name): \(wave.verdictWords)")
    xml.close("testsuite")
  }

  private static func testCase(
    _ device: DeviceReport, in wave: WaveReport, of report: RunReport, in xml: inout XMLText
  ) {
    var time: Int64 = 0
    for attempt in device.attempts {
      time += (attempt.ended ?? report.last).milliseconds - attempt.began.milliseconds
    }
    xml.open(
      "testcase",
      [
        ("classname", "\(report.beginning.campaign).\(wave.name)"), ("name", device.label),
        ("time", CSVReport.seconds(time)),
      ])
    let cause = device.cause
    let attributes = [("message", device.words ?? ""), ("type", cause?.code ?? "")]
    switch device.testResult {
    case .passed: break
    case .failure: xml.element("failure", attributes, cause?.remedy ?? "")
    case .error: xml.element("error", attributes, cause?.remedy ?? "")
    case .skipped:
      xml.element("skipped", [("message", device.words ?? device.outcome.words)], "")
    }
    xml.close("testcase")
  }
}

extension DeviceReport {
  fileprivate enum TestResult {
    case passed
    /// The device or its link failed.
    case failure
    /// The device was not found, or the host failed: the image on the device is unknown.
    case error
    /// The campaign excluded the device, or the device has no final outcome.
    case skipped
  }

  fileprivate var testResult: TestResult {
    switch outcome {
    case .succeeded: .passed
    case .failed: .failure
    case .unseen: .error
    case .neutral: if case .settled(.skipped) = standing { .skipped } else { .error }
    case .running, .waiting, .leftOut: .skipped
    }
  }
}

/// A writer for elements of XML 1.0, one per line.
private struct XMLText {
  private(set) var text = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
  private var depth = 0

  private mutating func begin(_ name: String, _ attributes: [(String, String)]) {
    text += String(repeating: "  ", count: depth) + "<" + name
    for (key, value) in attributes { text += " \(key)=\"\(Self.escaped(value))\"" }
    text += ">"
  }

  mutating func open(_ name: String, _ attributes: [(String, String)]) {
    begin(name, attributes)
    text += "\n"
    depth += 1
  }

  mutating func close(_ name: String) {
    depth -= 1
    text += String(repeating: "  ", count: depth) + "</\(name)>\n"
  }

  mutating func element(_ name: String, _ attributes: [(String, String)], _ content: String) {
    begin(name, attributes)
    text += Self.escaped(content) + "</\(name)>\n"
  }

  /// Escapes control characters, and omits other characters that XML 1.0 (2.2, Char) excludes.
  /// Works scalar by scalar, because a quotation mark with a combining accent is one character in
  /// Swift, but ends an attribute.
  private static func escaped(_ text: String) -> String {
    var shown = String.UnicodeScalarView()
    for scalar in VisibleWords.escaped(text).unicodeScalars {
      switch scalar {
      case "&": shown.append(contentsOf: "&amp;".unicodeScalars)
      case "<": shown.append(contentsOf: "&lt;".unicodeScalars)
      case ">": shown.append(contentsOf: "&gt;".unicodeScalars)
      case "\"": shown.append(contentsOf: "&quot;".unicodeScalars)
      case "\u{FFFE}", "\u{FFFF}": break
      default: shown.append(scalar)
      }
    }
    return String(shown)
  }
}
