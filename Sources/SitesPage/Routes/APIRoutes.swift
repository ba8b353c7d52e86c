#if Sites
import Hummingbird
import OtaflashConsole
import OtaflashFleet
import OtaflashFleetReport

/// A route of the API. The OpenAPI document describes each route.
struct APIRoute: Sendable {
  let method: HTTPRequest.Method
  /// The path after `/api/v1`, with parameters as in `/runs/{run}`.
  let path: String
  let role: AccountRole
  let answer: @Sendable (Request, PageContext) async throws -> Response

  init(
    _ method: HTTPRequest.Method, _ path: String, role: AccountRole = .viewer,
    _ answer: @escaping @Sendable (Request, PageContext) async throws -> Response
  ) {
    self.method = method
    self.path = path
    self.role = role
    self.answer = answer
  }
}

/// The REST API. The JSON members have the same names as in the output of `otaflash fleet …
/// --json`.
struct APIRoutes: Sendable {
  static let prefix = "/api/v1"
  private static let document = "/openapi.json"
  let services: PageServices

  var routes: [APIRoute] {
    [
      APIRoute(.get, "/account", account), APIRoute(.get, "/gateways", gateways),
      APIRoute(.get, "/transfers", transfers), APIRoute(.get, "/runs", runs),
      APIRoute(.post, "/runs", role: .op, submit), APIRoute(.get, "/runs/{run}", run),
      APIRoute(.get, "/runs/{run}/devices", runDevices),
      APIRoute(.get, "/runs/{run}/devices/{device}", runDevice),
      APIRoute(.get, "/runs/{run}/report", report),
      APIRoute(.post, "/runs/{run}/commands", role: .op, command),
      APIRoute(.get, "/devices", devices), APIRoute(.get, "/devices/{device}", device),
      APIRoute(.get, "/versions", versions),
    ]
  }

  func add(to router: RouterGroup<PageContext>, openTo open: RouterGroup<PageContext>) {
    open.get(RouterPath(Self.prefix + Self.document)) { _, _ in
      Response.text(OpenAPIDocument.text, type: "application/json")
    }
    for route in routes {
      router.on(RouterPath(Self.prefix + route.path), method: route.method) { request, context in
        try context.require(route.role)
        return try await route.answer(request, context)
      }
    }
  }

  /// The supported methods of each path.
  var methods: APIMethods {
    APIMethods(routes.map { ($0.path, $0.method) } + [(Self.document, .get)])
  }

  private var model: any SitesModel { services.model }

  // MARK: Sites

  private func account(_ request: Request, _ context: PageContext) async throws -> Response {
    let user = try context.user()
    return Response.json(
      JSONValue.fields(["account": .string(user.account), "role": .string(user.role.rawValue)]))
  }

  private func gateways(_ request: Request, _ context: PageContext) async throws -> Response {
    let gateways = try await model.gateways().map { gateway in
      JSONValue.object([
        "site": .string(gateway.site), "gateway": .string(gateway.name),
        "version": .string(gateway.version),
        "adapters": .array(gateway.adapters.map { .string($0) }),
        "last_report": .string(gateway.lastReport.text), "running": .bool(gateway.isRunning),
        "jobs": .array(gateway.jobs.map { .object(APIValues.members(of: $0)) }),
      ])
    }
    return Response.json(JSONValue.fields(["gateways": .array(gateways)]))
  }

  private func transfers(_ request: Request, _ context: PageContext) async throws -> Response {
    let transfers = try await model.transfers().sorted {
      ($0.progress.job.run, $0.progress.job.device) < ($1.progress.job.run, $1.progress.job.device)
    }.map { transfer in
      JSONValue.object(
        APIValues.members(of: transfer.progress.job)
          + JSONValue.fields([
            "done": .integer(transfer.progress.bytes), "total": .integer(transfer.progress.total),
            "at": .string(transfer.at.text),
          ]))
    }
    return Response.json(JSONValue.fields(["transfers": .array(transfers)]))
  }

  // MARK: Runs

  private func runs(_ request: Request, _ context: PageContext) async throws -> Response {
    let (page, size) = try QueryText.page(try Bodies.query(of: request, isStrict: true))
    let runs = try await model.runs()
    let table = TablePage<Int>(of: Array(runs.indices), page: page, size: size).map { runs[$0] }
    return Response.json(APIValues.table("runs", table) { APIValues.members(of: $0) })
  }

  private func submit(_ request: Request, _ context: PageContext) async throws -> Response {
    let body = try await Bodies.multipart(
      of: request, limit: services.configuration.submissionMaximum)
    let run = try await CommandRoutes(services: services).submit(body, by: try context.user())
    var response = Response.json(JSONValue.fields(["run": .string(run)]), status: .created)
    response.headers[.location] = "\(Self.prefix)/runs/\(Address.encoded(run))"
    return response
  }

  private func run(_ request: Request, _ context: PageContext) async throws -> Response {
    let id = try context.part("run")
    let isLive = try await model.runs().first { $0.id == id }?.isLive ?? false
    let now = services.environment.wall()
    return Response.json(
      try await model.run(id).read { APIValues.members(of: &$0, isWorkedOn: isLive, at: now) })
  }

  private func runDevices(_ request: Request, _ context: PageContext) async throws -> Response {
    let query = try DeviceQuery(try Bodies.query(of: request, isStrict: true))
    let (table, waves) = try await model.run(try context.part("run")).read { index in
      (index.page(query), index.run.waves.map(\.name))
    }
    return Response.json(
      APIValues.table("devices", table) { $0.members(inWave: waves[$0.wave]) })
  }

  private func runDevice(_ request: Request, _ context: PageContext) async throws -> Response {
    let id = try context.part("device")
    let (device, wave) = try await model.run(try context.part("run")).read {
      index throws(SitesFault) in
      guard let place = index.place(of: id) else { throw .noDevice(id) }
      let device = index.device(at: place)
      return (device, index.run.waves[device.wave].name)
    }
    return Response.json(
      device.members(inWave: wave)
        + JSONValue.fields([
          "attempt_list": .array(device.attempts.map { .object(APIValues.members(of: $0)) })
        ]))
  }

  private func report(_ request: Request, _ context: PageContext) async throws -> Response {
    let name =
      try Bodies.query(of: request, isStrict: true)["format"] ?? ReportWriter.Format.html.rawValue
    guard let format = ReportWriter.Format(rawValue: name) else {
      throw PageError.badRequest("the format must be html, csv, junit or prometheus")
    }
    let text = try await services.reports.text(
      format, of: try await model.record(of: try context.part("run")),
      in: services.configuration, at: services.environment.wall())
    var response = Response.text(text, type: format.contentType)
    if format == .html {
      response.headers[.contentSecurityPolicy] = HTMLReport.policy + "; frame-ancestors 'none'"
    }
    return response
  }

  /// The JSON body of a command.
  private struct CommandBody: Decodable {
    let action: RunAction
    let reason: String
    let devices: [String]?
  }

  private func command(_ request: Request, _ context: PageContext) async throws -> Response {
    let user = try context.user()
    let body = try await Bodies.json(CommandBody.self, of: request)
    let reason = try CommandReason.checked(body.reason)
    let devices = body.devices ?? []
    guard devices.count <= CommandRoutes.devicesMaximum else {
      throw PageError.badRequest("at most \(CommandRoutes.devicesMaximum) devices can be named")
    }
    let run = try context.part("run")
    // An `approve` is refused for a run that is only paused, and a `resume` for a run that waits
    // for approval.
    try await model.run(run).read { index throws(SitesFault) in
      do throws(CommandRefusal) { _ = try index.effect(of: body.action, devices: devices) } catch {
        throw .refused(words: "\(error)")
      }
    }
    let action = try await CommandRoutes(services: services).command(
      body.action.command(devices: devices), to: run, by: user, because: reason)
    return Response.json(JSONValue.fields(["run": .string(run)]) + action.members)
  }

  // MARK: Devices

  private func devices(_ request: Request, _ context: PageContext) async throws -> Response {
    let query = try InventoryQuery(try Bodies.query(of: request, isStrict: true))
    return Response.json(
      APIValues.table("devices", model.devices.page(query)) { APIValues.members(of: $0) }
        + JSONValue.fields(["complete": .bool(model.devices.extent.isComplete)]))
  }

  private func device(_ request: Request, _ context: PageContext) async throws -> Response {
    let id = try context.part("device")
    guard let device = model.devices[id] else { throw SitesFault.noDevice(id) }
    let runs = device.entries.map { JSONValue.object(APIValues.members(of: $0)) }
    return Response.json(APIValues.members(of: device) + JSONValue.fields(["runs": .array(runs)]))
  }

  private func versions(_ request: Request, _ context: PageContext) async throws -> Response {
    let groups = model.devices.groups.map { group in
      JSONValue.object([
        "board": .text(group.key.board), "version": .text(group.key.version),
        "devices": .integer(group.devices),
      ])
    }
    return Response.json(JSONValue.fields(["versions": .array(groups)]))
  }
}

extension RunAction: Decodable {}

/// The supported methods of the API paths, for responses to other methods.
struct APIMethods: Sendable {
  private let paths: [(parts: [Substring], methods: [HTTPRequest.Method])]

  init(_ routes: [(path: String, method: HTTPRequest.Method)]) {
    paths = Dictionary(grouping: routes) { $0.path }.map { path, routes in
      let methods = routes.map(\.method)
      return (path.split(separator: "/"), methods + (methods.contains(.get) ? [.head] : []))
    }
  }

  /// Returns the error for a request without a matching route: 405 if the path supports other
  /// methods, otherwise 404.
  func error(for path: String) -> PageError {
    guard path.hasPrefix(APIRoutes.prefix + "/") else { return .notFound }
    let parts = path.dropFirst(APIRoutes.prefix.count).split(separator: "/")
    let found = paths.first { known in
      known.parts.count == parts.count
        && zip(known.parts, parts).allSatisfy { $0.hasPrefix("{") || $0 == $1 }
    }
    guard let found else { return .notFound }
    let allowed = found.methods.map(\.rawValue).joined(separator: ", ")
    return PageError(
      status: .methodNotAllowed, code: "method-not-allowed",
      words: "this address supports only \(allowed)", headers: [.allow: allowed])
  }
}
#endif
