import OtaflashFleet

/// The report as metrics: Prometheus text format 0.0.4
/// (prometheus.io/docs/instrumenting/exposition_formats), for node_exporter's textfile collector or
/// a push gateway. Samples are per wave, because a label per device would create too many time
/// series.
package enum PrometheusReport {
  private struct Metric {
    let name: String
    let help: String
    var type = "gauge"
    let samples: [(labels: [(String, String)], value: String)]
  }

  package static func text(_ report: RunReport) -> String {
    let run = [("run", report.beginning.id), ("campaign", report.beginning.campaign)]
    return metrics(of: report).map { metric in
      let name = "otaflash_run_" + metric.name
      let samples = metric.samples.map { sample in
        "\(name){\(labels(run + sample.labels))} \(sample.value)\n"
      }
      return "# HELP \(name) \(metric.help)\n# TYPE \(name) \(metric.type)\n" + samples.joined()
    }.joined()
  }

  private static func metrics(of report: RunReport) -> [Metric] {
    [
      Metric(
        name: "start_timestamp_seconds", help: "Time of the first event.",
        samples: [([], seconds(report.began))]),
      Metric(
        name: "last_event_timestamp_seconds", help: "Time of the last event.",
        samples: [([], seconds(report.last))]),
      Metric(
        name: "events_total", help: "Recorded events.", type: "counter",
        samples: [([], String(report.events))]),
      Metric(
        name: "state", help: "1 for the current state of the run, otherwise 0.",
        samples: State.allCases.map { state in
          ([("state", state.rawValue)], state == State(report.state) ? "1" : "0")
        }),
      Metric(
        name: "devices", help: "Devices of a wave by outcome.",
        samples: report.waves.flatMap { wave in
          Outcome.allCases.map { outcome in
            (
              [("wave", wave.name), ("outcome", outcome.rawValue)],
              String(wave.counts[outcome])
            )
          }
        }),
      Metric(
        name: "attempts_total", help: "Attempts on devices of a wave.", type: "counter",
        samples: report.waves.map { wave in
          let count = report.devices[wave.devices].reduce(0) { $0 + $1.attempts.count }
          return ([("wave", wave.name)], String(count))
        }),
      Metric(
        name: "transferred_bytes_total", help: "Bytes that successful updates transferred.",
        type: "counter", samples: [([], String(report.throughput.bytes))]),
    ]
  }

  private enum State: String, CaseIterable {
    case running, paused, complete, stopped, cancelling, cancelled
    case awaitingApproval = "awaiting-approval"

    init(_ state: RunReport.State) {
      self =
        switch state {
        case .running: .running
        case .paused: .paused
        case .awaitingApproval: .awaitingApproval
        case .cancelling: .cancelling
        case .ended(.complete): .complete
        case .ended(.stopped): .stopped
        case .ended(.cancelled): .cancelled
        }
    }
  }

  private static func seconds(_ time: WallClockTime) -> String {
    "\(Double(time.milliseconds) / 1000)"
  }

  package static func labels(_ labels: [(String, String)]) -> String {
    labels.map { "\($0)=\"\(escaped($1))\"" }.joined(separator: ",")
  }

  /// Escapes backslashes and quotation marks. Works scalar by scalar, because a quotation mark with
  /// a combining accent is one character in Swift.
  private static func escaped(_ text: String) -> String {
    var escaped = String.UnicodeScalarView()
    for scalar in VisibleWords.escaped(text).unicodeScalars {
      if scalar == "\\" || scalar == "\"" { escaped.append("\\") }
      escaped.append(scalar)
    }
    return String(escaped)
  }
}
