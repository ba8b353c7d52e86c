#if Sites
import Hummingbird
import OtaflashFleet
import OtaflashFleetReport

/// The files of the page, the health check and the metrics.
struct ServiceRoutes: Sendable {
  /// The files are cached by browsers for a day; the address of a file changes with its content.
  private static let caching = "public, max-age=86400"

  let services: PageServices

  func addFiles(to router: RouterGroup<PageContext>) {
    let files = [
      ("page.css", "text/css; charset=utf-8", Assets.style),
      ("page.js", "text/javascript; charset=utf-8", Assets.script),
      ("icon.svg", "image/svg+xml", Assets.icon),
    ]
    for (name, type, text) in files {
      router.get("/assets/\(name)") { _, _ in
        var response = Response.text(text, type: type)
        response.headers[.cacheControl] = Self.caching
        return response
      }
    }
    // The response contains no details, because it requires no account.
    router.get("/healthz") { _, _ in Response.text("ok\n", type: "text/plain; charset=utf-8") }
  }

  func addMetrics(to router: RouterGroup<PageContext>) {
    router.get("/metrics") { _, context in
      try context.require(.viewer)
      return Response.text(
        try await metrics(), type: "text/plain; version=0.0.4; charset=utf-8")
    }
  }

  // MARK: Metrics

  private func metrics() async throws(SitesFault) -> String {
    let (gateways, transfers) = (
      try await services.model.gateways(), try await services.model.transfers()
    )
    let runs = try await services.model.runs()
    let counters = services.counters.withLock { $0 }
    let sessions = services.sessions.withLock { $0.count }
    let now = services.environment.wall()
    var metrics: [MetricText] = [
      MetricText(
        "gateways", "Gateways by state.",
        [
          ([("state", "running")], gateways.count { $0.isRunning }),
          ([("state", "silent")], gateways.count { !$0.isRunning }),
        ]),
      MetricText(
        "gateway_last_report_seconds", "Time since the last report of a gateway.",
        gateways.map { gateway in
          (
            [("site", gateway.site), ("gateway", gateway.name)],
            Int(max(0, now.milliseconds - gateway.lastReport.milliseconds) / 1000)
          )
        }),
      MetricText(
        "gateway_jobs", "Jobs that a gateway has claimed.",
        gateways.map { ([("site", $0.site), ("gateway", $0.name)], $0.jobs.count) }),
      MetricText("transfers", "Transfers in progress.", [([], transfers.count)]),
      MetricText(
        "runs", "Runs by state.",
        [
          ([("state", "open")], runs.count { !$0.hasEnded }),
          ([("state", "ended")], runs.count(where: \.hasEnded)),
        ]),
      MetricText(
        "runs_needing_operator", "Open runs that continue only after a command.",
        [([], runs.count(where: \.needsOperator))]),
    ]
    metrics.append(try await devices(of: runs))
    metrics += [
      MetricText(
        "http_responses_total", "Responses by status class.", type: "counter",
        counters.responses.sorted { $0.key < $1.key }.map { ([("class", "\($0.key)xx")], $0.value) }
      ),
      MetricText("logins_total", "Successful logins.", type: "counter", [([], counters.logins)]),
      MetricText(
        "failed_logins_total", "Failed logins, and requests with invalid tokens.",
        type: "counter", [([], counters.failedLogins)]),
      MetricText("sessions", "Sessions of users.", [([], sessions)]),
      MetricText("event_streams", "Open pages with live updates.", [([], counters.streams)]),
    ]
    return metrics.map(\.text).joined()
  }

  private func devices(of runs: [RunSummary]) async throws(SitesFault) -> MetricText {
    var samples: [(labels: [(String, String)], value: Int)] = []
    for run in runs where run.isLive && !run.hasEnded {
      let counts = try await services.model.run(run.id).read { $0.counts }
      samples += Outcome.allCases.map { outcome in
        (
          [("run", run.id), ("campaign", run.campaign), ("outcome", outcome.rawValue)],
          counts[outcome]
        )
      }
    }
    return MetricText("run_devices", "Devices of open runs by outcome.", samples)
  }
}

/// A metric in the Prometheus text format 0.0.4.
private struct MetricText {
  private static let prefix = "otaflash_sites_"
  let text: String

  init(
    _ name: String, _ help: String, type: String = "gauge",
    _ samples: [(labels: [(String, String)], value: Int)]
  ) {
    let name = Self.prefix + name
    let lines = samples.map { sample in
      let labels = sample.labels.isEmpty ? "" : "{\(PrometheusReport.labels(sample.labels))}"
      return "\(name)\(labels) \(sample.value)\n"
    }
    text = "# HELP \(name) \(help)\n# TYPE \(name) \(type)\n" + lines.joined()
  }
}
#endif
