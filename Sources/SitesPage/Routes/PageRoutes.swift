#if Sites
import Hummingbird
import OtaflashFleet
import OtaflashFleetReport

/// The pages that change nothing.
struct PageRoutes: Sendable {
  let services: PageServices

  private var model: any SitesModel { services.model }

  func add(to router: RouterGroup<PageContext>) {
    router.get("/") { _, context in
      Response.html(
        SitesView.overview(
          try await model.runs(), try await model.gateways(), model.devices.extent,
          at: services.environment.wall(), for: try context.user()))
    }
    router.get("/sites") { _, context in
      Response.html(
        SitesView.page(
          try await model.gateways(), at: services.environment.wall(), for: try context.user()))
    }
    router.get("/runs") { request, context in
      let (page, size) = try QueryText.page(try Bodies.query(of: request))
      let runs = try await model.runs()
      let rows = TablePage<Int>(of: Array(runs.indices), page: page, size: size).map { runs[$0] }
      return Response.html(RunsView.page(rows, for: try context.user()))
    }
    router.get("/runs/:run", use: run)
    router.get("/runs/:run/devices", use: runDevices)
    router.get("/runs/:run/devices/:device", use: runDevice)
    router.get("/runs/:run/report") { request, context in
      try await report(.html, isDownload: false, context)
    }
    for format in [ReportWriter.Format.html, .csv, .junit, .prometheus] {
      router.get("/runs/:run/report.\(format.suffix)") { _, context in
        try await report(format, isDownload: true, context)
      }
    }
    router.get("/devices") { request, context in
      let query = try InventoryQuery(try Bodies.query(of: request))
      return Response.html(InventoryView.page(model.devices, query, for: try context.user()))
    }
    router.get("/devices/:device") { _, context in
      let id = try context.part("device")
      guard let device = model.devices[id] else { throw SitesFault.noDevice(id) }
      return Response.html(InventoryView.page(device, for: try context.user()))
    }
  }

  private func run(_ request: Request, _ context: PageContext) async throws -> Response {
    let user = try context.user()
    let book = try await model.run(try context.part("run"))
    let transfers = try await model.transfers()
    let gateways = try await model.gateways()
    let now = services.environment.wall()
    let (view, hasEnded) = book.read { index in
      (
        RunView(&index, role: user.role, transfers: transfers, gateways: gateways, at: now),
        index.hasEnded
      )
    }
    return Response.html(view.page(for: user, hasEnded: hasEnded))
  }

  private func runDevices(_ request: Request, _ context: PageContext) async throws -> Response {
    let values = try Bodies.query(of: request)
    let book = try await model.run(try context.part("run"))
    let query = try DeviceQuery(values)
    let view = book.read { DevicesView(&$0, query) }
    return Response.html(view.html(for: try context.user()))
  }

  private func runDevice(_ request: Request, _ context: PageContext) async throws -> Response {
    let user = try context.user()
    let book = try await model.run(try context.part("run"))
    let id = try context.part("device")
    let (device, campaign, wave, canRetry) = try book.read { index throws(SitesFault) in
      guard let place = index.place(of: id) else { throw .noDevice(id) }
      let device = index.device(at: place)
      let isSettled = if case .settled = device.standing { true } else { false }
      return (
        device, index.run.beginning?.campaign ?? "", index.run.waves[device.wave].name, isSettled
      )
    }
    return Response.html(
      RunDeviceView.page(
        device, run: book.id, campaign: campaign, wave: wave,
        canRetry: canRetry && user.role >= .op, for: user))
  }

  private func report(
    _ format: ReportWriter.Format, isDownload: Bool, _ context: PageContext
  ) async throws -> Response {
    let run = try context.part("run")
    let text = try await services.reports.text(
      format, of: try await model.record(of: run), in: services.configuration,
      at: services.environment.wall())
    var response = Response.text(text, type: format.contentType)
    if format == .html {
      // The report is a separate file. Its script and style are permitted by their hashes.
      response.headers[.contentSecurityPolicy] = HTMLReport.policy + "; frame-ancestors 'none'"
    }
    if isDownload {
      response.headers[.contentDisposition] =
        "attachment; filename=\"run-\(Address.encoded(run)).\(format.suffix)\""
    }
    return response
  }
}
#endif
