#if Sites
import OtaflashConsole
import OtaflashFleet
import OtaflashFleetReport

/// Creates reports of runs.
actor ReportWriter {
  enum Format: String, Sendable, CaseIterable {
    case html
    case csv
    case junit
    case prometheus

    var contentType: String {
      switch self {
      case .html: "text/html; charset=utf-8"
      case .csv: "text/csv; charset=utf-8"
      case .junit: "application/xml; charset=utf-8"
      case .prometheus: "text/plain; version=0.0.4; charset=utf-8"
      }
    }

    /// The file name suffix of a downloaded report.
    var suffix: String {
      switch self {
      case .html: "html"
      case .csv: "csv"
      case .junit: "xml"
      case .prometheus: "prom"
      }
    }
  }

  func text(
    _ format: Format, of record: RunRecord, in configuration: PageConfiguration,
    at moment: WallClockTime
  ) throws(SitesFault) -> String {
    guard let report = RunReport(record.run) else {
      throw .refused(words: "the run has no events yet")
    }
    switch format {
    case .html:
      var surroundings = ReportSurroundings(program: configuration.program, written: moment)
      if let head = record.head {
        surroundings.chain = .init(events: report.events, head: head)
        surroundings.verification = configuration.verification.map {
          $0(report.beginning.id, Text.hex(head))
        }
      }
      return HTMLReport.text(report, in: surroundings)
    case .csv: return CSVReport.text(report)
    case .junit: return JUnitReport.text(report)
    case .prometheus: return PrometheusReport.text(report)
    }
  }
}
#endif
