#if Fleet
import OtaflashATT
import OtaflashFleet
import OtaflashNumerals

/// The table of devices. Columns without any value are omitted.
struct DeviceRows {
  private static let textMaximum = 80
  /// The maximum number of devices in the printed table, because no browser prints a thousand
  /// pages. If a run has more devices, only devices that need action are printed, up to this
  /// number.
  private static let paperMaximum = 600

  let report: RunReport
  let zone: ZoneOffsets

  var values: PageValues {
    let devices = report.devices
    let hasBoards = devices.contains { $0.device.board != nil }
    let hasSites = devices.contains { $0.device.site != nil }
    let hasWaves = report.waves.count > 1
    let isLarge = devices.count > Self.paperMaximum
    var onPaper = 0
    let rows = devices.map { device -> PageValues in
      var row = figures(of: device)
      row["class"] = device.outcome.rawValue
      row["paper"] = ""
      if isLarge, onPaper < Self.paperMaximum, device.outcome.needsAction {
        onPaper += 1
        row["paper"] = " paper"
      }
      row["sign"] = device.outcome.sign
      row["outcome"] = device.outcomeWords
      row["name"] = Self.cut(device.label)
      if device.device.name != nil { row["deviceID"] = Self.cut(device.device.id) }
      if hasBoards { row["board"] = ["text": Self.cut(device.device.board ?? "")] }
      if hasSites { row["site"] = ["text": Self.cut(device.device.site ?? "")] }
      if hasWaves { row["wave"] = ["text": Self.cut(report.waves[device.wave].name)] }
      if let cause = device.cause { row["cause"] = Self.cut(cause.title) }
      if let grade = device.grade { row["grade"] = grade.label }
      row["versions"] = Self.versions(of: device)
      row["adapter"] = Self.cut(device.adapter ?? "")
      row["tries"] = tries(of: device)
      return row
    }
    return [
      "rows": rows, "isLarge": isLarge, "onPaper": Numerals.grouped(onPaper),
      "hasBoards": hasBoards, "hasSites": hasSites, "hasWaves": hasWaves,
      "count": Figures.counted(devices.count, "device"),
      "outcomes": Outcome.allCases.filter { outcome in
        devices.contains { $0.outcome == outcome }
      }.map { ["value": $0.rawValue, "words": $0.words] as PageValues },
    ]
  }

  /// Cells with numbers, and their sort keys.
  private func figures(of device: DeviceReport) -> PageValues {
    var row: PageValues = ["rate": "", "rateValue": "", "took": "", "tookValue": ""]
    if let rate = device.figures?.bytesPerSecond {
      row["rate"] = Figures.rate(rate)
      row["rateValue"] = String(Int(rate.rounded()))
    }
    if let began = device.began {
      let took = (device.settled ?? report.last).milliseconds - began.milliseconds
      row["took"] = Figures.duration(max(took, 0))
      row["tookValue"] = String(max(took, 0) / 100)
    }
    row["ended"] = device.settled.map { CalendarTime($0, in: zone).clock } ?? ""
    row["endedValue"] =
      device.settled.map { String(($0.milliseconds - report.began.milliseconds) / 100) } ?? ""
    return row
  }

  /// Returns the number of attempts of a device, and a line for each attempt if there are several:
  /// the row itself describes only one attempt.
  private func tries(of device: DeviceReport) -> PageValues {
    let attempts = device.attempts
    guard attempts.count > 1 else { return ["one": String(attempts.count)] }
    let lines = attempts.map { attempt -> PageValues in
      let until = attempt.ended ?? report.last
      let took = Figures.duration(until.milliseconds - attempt.began.milliseconds)
      let place = attempt.adapter.map { VisibleWords.escaped($0, limit: 24) + ", " } ?? ""
      return [
        "try": "\(CalendarTime(attempt.began, in: zone).clock), \(place)\(took): "
          + Self.cut(attempt.words)
      ]
    }
    return ["several": ["number": String(attempts.count), "tries": lines] as PageValues]
  }

  private static func versions(of device: DeviceReport) -> String {
    switch (device.from, device.to) {
    case (let from?, let to?) where from != to: "\(from.description) → \(to.description)"
    case (_, let to?): to.description
    case (let from?, nil): from.description
    case (nil, nil): ""
    }
  }

  static func cut(_ text: String) -> String { VisibleWords.escaped(text, limit: textMaximum) }
}

extension Outcome {
  /// Whether an operator must act on the device.
  fileprivate var needsAction: Bool {
    switch self {
    case .failed, .unseen, .neutral: true
    case .succeeded, .running, .waiting, .leftOut: false
    }
  }
}
#endif
