#if Sites
import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdTesting
import OtaflashFleet
import OtaflashFleetSamples
import Testing

@testable import OtaflashSitesPage

/// Commands from the page and the API, and their records.
@Suite struct CommandTests {
  private static func actions(in events: [FleetEvent]) -> [OperatorAction] {
    events.compactMap { event -> OperatorAction? in
      if case .operatorActed(let action) = event { action } else { nil }
    }
  }

  @Test func everyCommandRecordsWhoAndWhy() async throws {
    let fixture = try await PageFixture()
    try await fixture.test { client in
      let user = try await client.loggedIn(as: .op)
      let commands = [
        ("pause", "hold for the shift change"), ("approve", "the canary looks good"),
        ("pause", "the door is in use"), ("resume", "the door is free"),
      ]
      for (action, reason) in commands {
        let response = try await user.perform(action, reason: reason)
        #expect(response.status == .seeOther, "\(action): \(response.text)")
        #expect(response.headers[.location] == "/runs/a11fe0")
      }
      let admin = try await client.loggedIn(as: .admin)
      #expect(try await admin.perform("cancel", reason: "wrong image").status == .seeOther)
      #expect(
        Self.actions(in: try fixture.events()) == [
          OperatorAction(.pause, by: "operator", reason: "hold for the shift change"),
          OperatorAction(.approve, by: "operator", reason: "the canary looks good"),
          OperatorAction(.pause, by: "operator", reason: "the door is in use"),
          OperatorAction(.resume, by: "operator", reason: "the door is free"),
          OperatorAction(.cancel, by: "admin", reason: "wrong image"),
        ])
      let page = try await user.get("/runs/a11fe0")
      #expect(page.text.contains("wrong image"))
      #expect(page.text.contains("cancelled"))
    }
  }

  @Test func aRetryNamesItsDevices() async throws {
    let fixture = try await PageFixture()
    var sample = SampleRun(devices: 40, adapters: 2)
    (sample.id, sample.bad) = ("bad001", 0.3)
    try await fixture.coordinator.begin(sample)
    try await fixture.coordinator.step(events: 100_000)
    let approve = OperatorAction(.approve, by: "x", reason: "x")
    try fixture.coordinator.store.request(
      .resume, by: approve, of: "bad001", at: SampleRun.began)
    try await fixture.coordinator.step(events: 100_000)
    try await fixture.coordinator.step(events: 100_000)
    try await fixture.test { client in
      let user = try await client.loggedIn(as: .op)
      let failed = try await client.api("/runs/bad001/devices?outcome=failed").json()
      let devices = try #require(failed["devices"] as? [[String: Any]])
      let device = try #require(devices.first?["device"] as? String)
      let path = "/runs/bad001/retry?device=\(Address.encoded(device))"
      let form = try await user.get(path)
      #expect(form.text.contains("1 device is attempted again"))
      let response = try await user.post(
        "/runs/bad001/retry",
        [
          ("form-token", try form.formToken), ("state", try form.field("state")),
          ("device", device), ("reason", "a new battery"),
        ])
      #expect(response.status == .seeOther, "\(response.text)")
      let events = try fixture.events(of: "bad001")
      #expect(events.contains(.deviceRetried(device: device)))
      #expect(
        Self.actions(in: events).last
          == OperatorAction(.retry, by: "operator", reason: "a new battery"))
      #expect(
        try await user.get("/runs/bad001/retry?device=unknown").status == .conflict)
    }
  }

  @Test func aCommandRequiresAReason() async throws {
    let fixture = try await PageFixture()
    try await fixture.test { client in
      let user = try await client.loggedIn(as: .op)
      for reason in ["", " ", "two\nlines", String(repeating: "x", count: 501)] {
        let response = try await user.perform("pause", reason: reason)
        #expect(response.status == .unprocessableContent)
        #expect(response.text.contains("role=\"alert\""))
        let json = #"{"action":"pause","reason":"\#(reason.replacing("\n", with: "\\n"))"}"#
        let answer = try await client.api(
          "/runs/a11fe0/commands", as: .op, method: .post, json: json)
        #expect(answer.status == .unprocessableContent)
      }
      #expect(Self.actions(in: try fixture.events()).isEmpty)
    }
  }

  /// If the run has changed since the confirmation page was shown, the command is not executed.
  @Test func aChangedRunShowsItsNewEffect() async throws {
    let fixture = try await PageFixture()
    try await fixture.test { client in
      let user = try await client.loggedIn(as: .op)
      let form = try await user.get("/runs/a11fe0/cancel")
      #expect(try await user.perform("approve").status == .seeOther)
      let before = try fixture.events().count
      let response = try await user.post(
        "/runs/a11fe0/cancel",
        [
          ("form-token", try form.formToken), ("state", try form.field("state")),
          ("reason", "too late"),
        ])
      #expect(response.status == .conflict)
      #expect(response.text.contains("has changed since"))
      #expect(response.text.contains("value=\"too late\""))
      #expect(try fixture.events().count == before)
    }
  }

  @Test func theAPIGivesCommands() async throws {
    let fixture = try await PageFixture()
    try await fixture.test { client in
      let refused = try await client.api(
        "/runs/a11fe0/commands", as: .op, method: .post,
        json: #"{"action":"resume","reason":"x"}"#)
      #expect(refused.status == .conflict)
      let answer = try await client.api(
        "/runs/a11fe0/commands", as: .op, method: .post,
        json: #"{"action":"approve","reason":"the canary looks good"}"#)
      #expect(answer.status == .ok, "\(answer.text)")
      #expect(
        try answer.json() as? [String: String] == [
          "run": "a11fe0", "action": "approve", "by": "operator",
          "reason": "the canary looks good",
        ])
      #expect(
        Self.actions(in: try fixture.events()) == [
          OperatorAction(.approve, by: "operator", reason: "the canary looks good")
        ])
      let again = try await client.api(
        "/runs/a11fe0/commands", as: .op, method: .post,
        json: #"{"action":"approve","reason":"x"}"#)
      #expect(again.status == .conflict)
    }
  }

  @Test(arguments: [
    "", "{", "[]", "null", #"{"action":"explode","reason":"x"}"#, #"{"action":"pause"}"#,
    #"{"reason":"x"}"#, #"{"action":7,"reason":"x"}"#,
    #"{"action":"retry","reason":"x","devices":7}"#,
  ])
  func otherBodiesAreRefused(_ json: String) async throws {
    try await PageFixture().test { client in
      let answer = try await client.api(
        "/runs/a11fe0/commands", as: .op, method: .post, json: json)
      #expect(answer.status == .badRequest)
      #expect(try answer.json()["error"] as? String == "bad-request")
    }
  }

  @Test func aCommandWithoutAnswerIsReported() async throws {
    let fixture = try await PageFixture()
    fixture.clocks.whileWaiting {}
    try await fixture.test { client in
      let answer = try await client.api(
        "/runs/a11fe0/commands", as: .op, method: .post,
        json: #"{"action":"pause","reason":"x"}"#)
      #expect(answer.status == .gatewayTimeout)
      #expect(answer.text.contains("may still be executed"))
    }
  }

  // MARK: Campaigns

  @Test func aCampaignIsSubmitted() async throws {
    let fixture = try await PageFixture()
    try await fixture.test { client in
      let user = try await client.loggedIn(as: .op)
      let form = try await user.get("/runs/new")
      let parts = [
        ("form-token", nil, try form.formToken), ("campaign", "doors.yaml", "name: doors\n"),
        ("files", "door.bin", "image"), ("files", "", ""),
      ]
      let response = try await user.multipart("/runs", parts)
      #expect(response.status == .seeOther, "\(response.text)")
      let path = try #require(response.headers[.location])
      let run = String(path.dropFirst("/runs/".count))
      fixture.clocks.advance(by: .seconds(3))
      try await fixture.coordinator.step(events: 50)
      #expect(try await user.get(path).status == .ok)
      guard case .runBegan(let beginning) = try fixture.events(of: run).first else {
        Issue.record("the run has not started")
        return
      }
      #expect(beginning.startedBy == "operator")
    }
  }

  @Test func mistakesOfACampaignAreShown() async throws {
    try await PageFixture().test { client in
      let user = try await client.loggedIn(as: .op)
      let token = try await user.get("/runs/new").formToken
      let response = try await user.multipart(
        "/runs", [("form-token", nil, token), ("campaign", "<b>.yaml", "no")])
      #expect(response.status == .unprocessableContent)
      #expect(response.text.contains("&lt;b&gt;.yaml, line 1: the campaign has no name"))
      let empty = try await user.multipart("/runs", [("form-token", nil, token)])
      #expect(empty.status == .badRequest)
    }
  }

  @Test(arguments: [
    "../a", "/etc/passwd", "a/b", "..", ".", ".hidden", "a\\b", "a\u{202E}b",
    String(repeating: "a", count: 201),
  ])
  func aFileNameIsOnlyAName(_ name: String) async throws {
    try await PageFixture().test { client in
      let user = try await client.loggedIn(as: .op)
      let token = try await user.get("/runs/new").formToken
      let files = [
        ("form-token", nil, token), ("campaign", "a.yaml", "name: x"), ("files", name, "x"),
      ]
      #expect(try await user.multipart("/runs", files).status == .badRequest)
      let campaign = [("form-token", nil, token), ("campaign", name, "name: x")]
      #expect(try await user.multipart("/runs", campaign).status == .badRequest)
    }
  }
}
#endif
