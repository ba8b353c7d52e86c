#if Sites
import Hummingbird
import Logging
import OtaflashConsole
import OtaflashFleet

/// The commands of operators, and new campaigns. Each command is a form with a token, on a page
/// that states the effect of the command.
struct CommandRoutes: Sendable {
  /// The maximum number of devices that a retry can name. A retry without names applies to all
  /// devices that did not succeed.
  static let devicesMaximum = 100

  let services: PageServices

  func add(to router: RouterGroup<PageContext>) {
    for action in RunAction.allCases {
      router.get("/runs/:run/\(action.rawValue)") { request, context in
        try await confirmation(of: action, request, context)
      }
      router.post("/runs/:run/\(action.rawValue)") { request, context in
        try await perform(action, request, context)
      }
    }
    router.get("/runs/new") { _, context in
      let user = try context.require(.op)
      return Response.html(
        RunsView.newPage(for: user, limit: services.configuration.submissionMaximum))
    }
    router.post("/runs", use: submit)
    router.get("/accounts") { _, context in
      let user = try context.require(.admin)
      let now = services.environment.uptime()
      let accounts = services.accounts.all.map { account in
        (account, services.sessions.withLock { $0.count(of: account.name, at: now) })
      }
      return Response.html(AccountsView.page(accounts, fault: services.accounts.fault, for: user))
    }
    router.post("/accounts/:account/end-sessions") { request, context in
      let user = try context.require(.admin)
      try FormCheck.origin(of: request)
      try FormCheck.token(try await Bodies.form(of: request), of: user)
      let account = try context.part("account")
      services.sessions.withLock { $0.endAll(of: account) }
      services.logger.info(
        "sessions ended", metadata: ["account": "\(account)", "by": "\(user.account)"])
      return Response.redirect(to: "/accounts")
    }
  }

  // MARK: Runs

  private func view(
    _ action: RunAction, devices: [String], of run: String
  ) async throws -> ConfirmView {
    guard devices.count <= Self.devicesMaximum else {
      throw PageError.badRequest("at most \(Self.devicesMaximum) devices can be named")
    }
    let book = try await services.model.run(run)
    return try book.read { index throws(SitesFault) in
      do throws(CommandRefusal) {
        return ConfirmView(
          run: book.id, campaign: index.run.beginning?.campaign ?? "",
          effect: try index.effect(of: action, devices: devices), devices: devices)
      } catch {
        throw .refused(words: "\(error)")
      }
    }
  }

  private func confirmation(
    of action: RunAction, _ request: Request, _ context: PageContext
  ) async throws -> Response {
    let user = try context.require(.op)
    let devices = try Bodies.query(of: request).all("device")
    return Response.html(
      try await view(action, devices: devices, of: try context.part("run")).page(for: user))
  }

  private func perform(
    _ action: RunAction, _ request: Request, _ context: PageContext
  ) async throws -> Response {
    let user = try context.require(.op)
    try FormCheck.origin(of: request)
    let form = try await Bodies.form(of: request)
    try FormCheck.token(form, of: user)
    let devices = form.all("device")
    var view = try await view(action, devices: devices, of: try context.part("run"))
    view.reason = form["reason"] ?? ""
    if form["state"] != view.effect.fingerprint {
      view.hasChanged = true
      return Response.html(view.page(for: user), status: .conflict)
    }
    let reason: String
    do throws(PageError) { reason = try CommandReason.checked(form["reason"]) } catch {
      view.mistake = error.words
      return Response.html(view.page(for: user), status: .unprocessableContent)
    }
    try await command(action.command(devices: devices), to: view.run, by: user, because: reason)
    return Response.redirect(to: "/runs/" + Address.encoded(view.run))
  }

  @discardableResult
  func command(
    _ command: OperatorCommand, to run: String, by user: PageUser, because reason: String
  ) async throws(SitesFault) -> OperatorAction {
    let action = try await services.model.command(
      command, to: run, by: user.account, because: reason)
    services.logger.info(
      "command",
      metadata: [
        "run": "\(run)", "command": "\(action.kind.rawValue)", "account": "\(user.account)",
      ])
    return action
  }

  // MARK: Campaigns

  private func submit(_ request: Request, _ context: PageContext) async throws -> Response {
    let user = try context.require(.op)
    try FormCheck.origin(of: request)
    let body = try await Bodies.multipart(
      of: request, limit: services.configuration.submissionMaximum)
    var form = FormValues()
    form.add(
      FormCheck.fieldName,
      String(
        decoding: body.parts.first { $0.name == FormCheck.fieldName }?.bytes ?? [], as: UTF8.self))
    try FormCheck.token(form, of: user)
    let run = try await submit(body, by: user)
    return Response.redirect(to: "/runs/" + Address.encoded(run))
  }

  /// Starts a campaign.
  ///
  /// - Returns: the id of the run.
  func submit(_ body: Multipart, by user: PageUser) async throws -> String {
    let submission = try SubmittedFiles.submission(body, by: user)
    let run = try await services.model.submit(submission)
    services.logger.info(
      "campaign submitted", metadata: ["run": "\(run)", "account": "\(user.account)"])
    return run
  }
}

/// The files of a submitted campaign.
enum SubmittedFiles {
  private static let nameMaximum = 200

  static func submission(_ body: Multipart, by user: PageUser) throws(PageError)
    -> CampaignSubmission
  {
    guard let campaign = body.parts.first(where: { $0.name == "campaign" }),
      !campaign.bytes.isEmpty
    else { throw .badRequest("the part 'campaign', which contains the campaign file, is missing") }
    guard let text = String(validating: campaign.bytes, as: UTF8.self) else {
      throw .badRequest("the campaign file is not UTF-8 text")
    }
    var files: [CampaignSubmission.File] = []
    for part in body.parts where part.name == "files" {
      // Browsers send an empty part if the user selected no file.
      guard let name = part.fileName, !(name.isEmpty && part.bytes.isEmpty) else { continue }
      files.append(.init(name: try checked(name), bytes: Array(part.bytes)))
    }
    guard Set(files.map(\.name)).count == files.count else {
      throw .badRequest("two files have the same name")
    }
    let name = campaign.fileName.flatMap { $0.isEmpty ? nil : $0 } ?? "campaign.yaml"
    return CampaignSubmission(
      text: text, name: try checked(name), files: files, by: user.account)
  }

  /// Returns the name if it is the name of a file without a folder; otherwise throws.
  private static func checked(_ name: String) throws(PageError) -> String {
    guard (1...nameMaximum).contains(name.utf8.count), name != ".", name != "..",
      !name.hasPrefix("."), !name.utf8.contains(UInt8(ascii: "/")),
      !name.utf8.contains(UInt8(ascii: "\\")),
      !name.unicodeScalars.contains(where: VisibleText.isHidden)
    else { throw .badRequest("a file has a name that is not permitted") }
    return name
  }
}
#endif
