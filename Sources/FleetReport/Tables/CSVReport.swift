import OtaflashFleet

/// The report as a table with one row for each device, for spreadsheets (RFC 4180, UTF-8, times in
/// UTC).
///
/// A cell that a spreadsheet could interpret as a formula starts with an apostrophe. Control
/// characters, including the bidirectional ones of Unicode, are escaped (`\u001b`).
package enum CSVReport {
  static let columns = [
    "device", "name", "board", "site", "wave", "outcome", "kind", "cause", "words", "from", "to",
    "proof", "attempts", "adapter", "octets", "upload_seconds", "octets_per_second", "resumes",
    "began", "ended", "image_octets", "verification", "image_sha256", "overrides", "hooks",
  ]

  package static func text(_ report: RunReport) -> String {
    var text = line(columns)
    for device in report.devices { text += line(cells(of: device, in: report)) }
    return text
  }

  private static func cells(of device: DeviceReport, in report: RunReport) -> [String] {
    let figures = device.figures
    return [
      device.device.id, device.device.name ?? "", device.device.board ?? "",
      device.device.site ?? "", report.waves[device.wave].name, device.outcome.rawValue,
      device.cause?.kind.rawValue ?? "", device.cause?.code ?? "", device.words ?? "",
      device.from?.description ?? "", device.to?.description ?? "", device.proof ?? "",
      String(device.attempts.count), device.adapter ?? "", figures.map { String($0.bytes) } ?? "",
      figures.map { seconds($0.uploadMilliseconds) } ?? "",
      figures?.bytesPerSecond.map { String(Int($0.rounded())) } ?? "",
      figures.map { String($0.resumes) } ?? "", device.began.map(CalendarTime.text) ?? "",
      device.settled.map(CalendarTime.text) ?? "", figures?.made.map { String($0) } ?? "",
      device.grade?.name ?? "", report.image(of: device)?.sha256 ?? "",
      report.settingWords { $0 == "overrides" }, report.settingWords { $0.hasPrefix("hook ") },
    ]
  }

  private static func line(_ cells: [String]) -> String {
    cells.map(cell).joined(separator: ",") + "\r\n"
  }

  /// The first characters of a formula. Some spreadsheets also interpret the full-width forms.
  private static let formulaBeginnings: Set<Unicode.Scalar> = [
    "=", "+", "-", "@", "＝", "＋", "－", "＠",
  ]

  static func cell(_ text: String) -> String {
    var cell = VisibleWords.escaped(text)
    if let first = cell.unicodeScalars.first, formulaBeginnings.contains(first) {
      cell = "'" + cell
    }
    let needsQuotes =
      cell.unicodeScalars.contains { $0 == "," || $0 == "\"" }
      || cell.unicodeScalars.first == " " || cell.unicodeScalars.last == " "
    guard needsQuotes else { return cell }
    var quoted = String.UnicodeScalarView()
    quoted.append("\"")
    for scalar in cell.unicodeScalars {
      if scalar == "\"" { quoted.append("\"") }
      quoted.append(scalar)
    }
    quoted.append("\"")
    return String(quoted)
  }

  static func seconds(_ milliseconds: Int64) -> String {
    let fraction = String(milliseconds % 1000 + 1000).dropFirst()
    return "\(milliseconds / 1000).\(fraction)"
  }
}

extension RunReport {
  /// Returns the campaign's options with these names, such as `hook run-ended: ./notify`.
  fileprivate func settingWords(_ isIncluded: (String) -> Bool) -> String {
    (beginning.settings ?? []).filter { isIncluded($0.name) }
      .map { $0.name == "overrides" ? $0.words : "\($0.name): \($0.words)" }
      .joined(separator: "; ")
  }
}

extension DeviceReport {
  /// The recorded message of the failure.
  package var words: String? {
    switch standing {
    case .settled(.failed(let failure)), .settled(.quarantined(let failure)): failure.words
    case .settled(.absent): ReturnReason.notHeard.words
    case .settled(.skipped(let words)): words
    case .settled(.updated), .settled(.current), .running, .waiting, .leftOut: nil
    }
  }
}
