#if Sites
import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdTesting
import OtaflashFleetReport
import Testing

@testable import OtaflashSitesPage

@Suite struct APITests {
  private static func document() throws -> [String: Any] {
    try #require(
      try JSONSerialization.jsonObject(with: Data(OpenAPIDocument.text.utf8)) as? [String: Any])
  }

  @Test func theDocumentHasEveryRouteAndNoOther() async throws {
    let fixture = try await PageFixture()
    defer { do { try FileManager.default.removeItem(at: fixture.folder) } catch {} }
    let services = PageServices(
      model: fixture.coordinator.sites, accounts: try AccountBook(fixture.accounts),
      configuration: PageConfiguration(), environment: SitesEnvironment(),
      logger: .init(label: "test"), cost: .test)
    let routes = Set(
      APIRoutes(services: services).routes.map { "\($0.method.rawValue.lowercased()) \($0.path)" })
    let paths = try #require(try Self.document()["paths"] as? [String: [String: Any]])
    let described = Set(paths.flatMap { path, methods in methods.keys.map { "\($0) \(path)" } })
    #expect(routes == described)
  }

  /// Every reference in the document has a target, and every component is used.
  @Test func theReferencesOfTheDocumentAreComplete() throws {
    let text = OpenAPIDocument.text
    let components = try #require(try Self.document()["components"] as? [String: [String: Any]])
    let used = Set(text.matches(of: /"#\/components\/(\w+)\/(\w+)"/).map { "\($0.1)/\($0.2)" })
    let defined = Set(
      components.filter { $0.key != "securitySchemes" }
        .flatMap { kind, values in values.keys.map { "\(kind)/\($0)" } })
    #expect(used == defined)
    let outcomes = try #require(
      (components["schemas"]?["outcome"] as? [String: Any])?["enum"] as? [String])
    #expect(outcomes == Outcome.allCases.map(\.rawValue))
    let actions = try #require(
      (components["schemas"]?["action"] as? [String: Any])?["enum"] as? [String])
    #expect(Set(actions) == Set(RunAction.allCases.map(\.rawValue)))
  }

  @Test func theDocumentNeedsNoToken() async throws {
    try await PageFixture().test { client in
      let response = try await client.get("/api/v1/openapi.json")
      #expect(response.status == .ok)
      #expect(try response.json()["openapi"] as? String == "3.1.0")
    }
  }

  @Test func theStateOfARun() async throws {
    try await PageFixture().test { client in
      let run = try await client.api("/runs/a11fe0").json()
      #expect(run["state"] as? String == "waiting for approval after wave canary")
      #expect(run["actions"] as? [String] == ["approve", "pause", "cancel"])
      #expect(run["devices"] as? Int == 40)
      #expect(run["worked_on"] as? Bool == true)
      let waves = try #require(run["waves"] as? [[String: Any]])
      #expect(waves.first?["verdict"] as? String == "continue")
      let waits = try #require(run["waits"] as? [[String: Any]])
      #expect(waits.first?["reason"] as? String == "approval")
      let list = try await client.api("/runs?size=1&page=2").json()
      #expect(list["total"] as? Int == 2)
      #expect((list["runs"] as? [[String: Any]])?.first?["run"] as? String == "e1d2ed")
    }
  }

  @Test func devicesOfARunAndOfAllRuns() async throws {
    try await PageFixture().test { client in
      let page = try await client.api("/runs/e1d2ed/devices?outcome=succeeded&size=3").json()
      let devices = try #require(page["devices"] as? [[String: Any]])
      #expect(devices.count == 3)
      #expect(devices.allSatisfy { $0["outcome"] as? String == "succeeded" })
      let id = try #require(devices[0]["device"] as? String)
      let one = try await client.api("/runs/e1d2ed/devices/\(Address.encoded(id))").json()
      let attempts = try #require(one["attempt_list"] as? [[String: Any]])
      #expect(attempts.count == one["attempts"] as? Int)
      let known = try await client.api("/devices/\(Address.encoded(id))").json()
      #expect(known["version"] as? String == "1.3.0")
      let versions = try await client.api("/versions").json()
      let groups = try #require(versions["versions"] as? [[String: Any]])
      #expect(groups.reduce(0) { $0 + ($1["devices"] as? Int ?? 0) } == 60)
      let all = try await client.api("/devices?version=1.3.0&sort=last&order=desc").json()
      #expect((all["total"] as? Int ?? 0) > 40)
      #expect(all["complete"] as? Bool == true)
    }
  }

  @Test func gatewaysTransfersAndTheAccount() async throws {
    try await PageFixture().test { client in
      let gateways = try #require(
        try await client.api("/gateways").json()["gateways"] as? [[String: Any]])
      #expect(gateways.count == 6)
      #expect(gateways.last?["running"] as? Bool == false)
      #expect(try await client.api("/transfers").json()["transfers"] as? [String] == [])
      let account = try await client.api("/account", as: .op).json()
      #expect(account as? [String: String] == ["account": "operator", "role": "operator"])
    }
  }

  @Test(arguments: [
    "/runs?page=0", "/runs?page=", "/runs?page=1&page=2", "/runs?size=201",
    "/runs/a11fe0/devices?outcome=", "/runs/a11fe0/devices?wave=101", "/devices?sort=x",
    "/devices?order=", "/runs/e1d2ed/report?format=pdf", "/devices?q=%GG",
  ])
  func invalidValuesAreRefused(_ path: String) async throws {
    try await PageFixture().test { client in
      let response = try await client.api(path)
      #expect(response.status == .badRequest)
      #expect(try response.json()["words"] as? String != nil)
    }
  }

  @Test func otherMethodsAreRefused() async throws {
    try await PageFixture().test { client in
      for method: HTTPRequest.Method in [.put, .delete, .patch, .options, .trace] {
        let response = try await client.api("/runs", as: .admin, method: method)
        #expect(response.status == .methodNotAllowed)
        #expect(response.headers[.allow] == "GET, POST, HEAD")
      }
    }
  }

  @Test func aCampaignIsSubmittedWithAToken() async throws {
    try await PageFixture().test { client in
      let token = try #require(client.fixture.tokens[.op])
      let parts: [(name: String, file: String?, text: String)] = [
        ("campaign", "doors.yaml", "name: doors\n"), ("files", "door.bin", "image"),
      ]
      let headers: HTTPFields = [.authorization: "Bearer \(token)"]
      let response = try await client.multipart("/api/v1/runs", parts, headers: headers)
      #expect(response.status == .created, "\(response.text)")
      let run = try #require(try response.json()["run"] as? String)
      #expect(response.headers[.location] == "/api/v1/runs/\(run)")
      let invalid = try await client.multipart(
        "/api/v1/runs", [("campaign", "doors.yaml", "no")], headers: headers)
      #expect(invalid.status == .unprocessableContent)
      #expect(
        try invalid.json()["details"] as? [String]
          == ["doors.yaml, line 1: the campaign has no name"])
      #expect(
        try await client.api("/runs", as: .op, method: .post, json: "{}").status
          == .unsupportedMediaType)
    }
  }
}
#endif
