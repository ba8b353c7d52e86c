#if Sites
import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdTesting
import OtaflashFleet
import OtaflashFleetReport
import OtaflashFleetSamples
import Testing

@testable import OtaflashSitesPage

/// The contents of the pages; `Tests/System/SitesPage` tests them in a browser.
@Suite struct PageTests {
  private static let paths = [
    "/", "/sites", "/runs", "/runs/new", "/runs/a11fe0", "/runs/e1d2ed", "/runs/a11fe0/devices",
    "/runs/a11fe0/devices/C0%3AFF%3AEE%3A00%3A00%3A00", "/runs/a11fe0/approve",
    "/runs/a11fe0/pause", "/runs/a11fe0/cancel", "/devices", "/accounts",
    "/devices/C0%3AFF%3AEE%3A00%3A00%3A00", "/login", "/nothing",
  ]

  @Test(arguments: paths)
  func aPageHasNoInlineScriptOrStyle(_ path: String) async throws {
    try await PageFixture().test { client in
      let user = try await client.loggedIn(as: .admin)
      let response = try await user.get(path)
      #expect(response.status == (path == "/nothing" ? .notFound : .ok), "\(response.text)")
      let policy = try #require(response.headers[.contentSecurityPolicy])
      #expect(policy == ResponseGuard.policy && !policy.contains("unsafe"))
      let text = response.text
      #expect(!text.contains("<style") && !text.contains(" style="))
      #expect(text.ranges(of: "<script").count == 1)
      #expect(text.contains(/<script src="\/assets\/page.js\?[0-9a-f]+" defer><\/script>/))
      #expect(!text.contains(/<[a-z]+ [^>]*\son[a-z]+=/))
      #expect(!text.contains(/(href|src|action)="(?!\/|#|")[^"]*"/))
      #expect(text.contains("<html lang=\"en\">"))
      #expect(text.ranges(of: "<h1>").count == 1)
    }
  }

  @Test(arguments: ["/", "/healthz", "/assets/page.css", "/nothing", "/api/v1/runs", "/metrics"])
  func everyResponseHasTheSecurityHeaders(_ path: String) async throws {
    try await PageFixture().test { client in
      let response = try await client.get(path)
      for (name, value) in [
        ("X-Content-Type-Options", "nosniff"), ("Referrer-Policy", "same-origin"),
        ("X-Frame-Options", "DENY"), ("Cross-Origin-Opener-Policy", "same-origin"),
        ("Content-Security-Policy", ResponseGuard.policy),
      ] {
        let name = try #require(HTTPField.Name(name))
        #expect(response.headers[name] == value)
      }
      let caching = response.headers[.cacheControl]
      #expect(path.hasPrefix("/assets") ? caching != "no-store" : caching == "no-store")
    }
  }

  @Test func hostileNamesAreOnlyText() async throws {
    let fixture = try await PageFixture()
    var hostile = SampleRun(devices: 60, adapters: 2)
    hostile.id = "b05711"
    hostile.names = SampleRun.hostileNames
    hostile.campaign = SampleRun.hostileNames[1]
    hostile.startedBy = SampleRun.hostileNames[0]
    hostile.sites = [SampleRun.hostileNames[6], nil]
    try await fixture.coordinator.keepAtOnce(hostile)
    fixture.clocks.advance(by: .seconds(3))
    try await fixture.coordinator.sites.load()
    try await fixture.test { client in
      let user = try await client.loggedIn(as: .op)
      let search = "/devices?q=" + Address.encoded("\"><script>alert(1)</script>")
      for path in [
        "/", "/runs", "/runs/b05711", "/runs/b05711/devices?size=200", "/devices?size=200",
        "/runs/b05711/devices/C0%3AFF%3AEE%3A00%3A00%3A01", search,
        "/devices/C0%3AFF%3AEE%3A00%3A00%3A01", "/runs/\(Address.encoded("<script>"))",
      ] {
        let text = try await user.get(path).text
        #expect(
          !text.contains("<script>") && !text.contains("<img") && !text.contains("<svg onload"))
        #expect(!text.unicodeScalars.contains { $0.value == 0x202E || $0.value == 0 })
        let values = text.replacing(/"[^"]*"/, with: "")
        #expect(!values.contains(/<[a-z]+ [^>]*\son[a-z]+=/))
      }
    }
  }

  @Test func aRunShowsWhyItWaits() async throws {
    try await PageFixture().test { client in
      let user = try await client.loggedIn(as: .op)
      let text = try await user.get("/runs/a11fe0").text
      #expect(text.contains("waiting for approval after wave canary"))
      #expect(text.contains("wave canary needs an operator&#39;s approval"))
      #expect(text.contains("href=\"/runs/a11fe0/approve\""))
      #expect(text.contains("data-stream=\"/runs/a11fe0/events\""))
      #expect(text.contains("success at 70 %"))
      let overview = try await user.get("/").text
      #expect(overview.contains("needs an operator"))
      #expect(overview.contains("1 gateway silent"))
    }
  }

  @Test func anEndedRunHasItsReport() async throws {
    let fixture = try await PageFixture()
    try await fixture.test { client in
      let user = try await client.loggedIn(as: .viewer)
      let text = try await user.get("/runs/e1d2ed").text
      #expect(text.contains("complete"))
      #expect(!text.contains("data-stream"))
      let report = try await user.get("/runs/e1d2ed/report")
      #expect(report.status == .ok)
      #expect(report.text.contains("60 devices"))
      let policy = try #require(report.headers[.contentSecurityPolicy])
      #expect(policy.contains("sha256-") && !policy.contains("unsafe"))
      let head = try #require(try fixture.coordinator.store.head(of: "e1d2ed"))
      #expect(report.text.contains(head.hash.map { String(format: "%02x", $0) }.joined()))
      for (suffix, type) in [
        ("csv", "text/csv"), ("xml", "application/xml"), ("html", "text/html"),
      ] {
        let file = try await user.get("/runs/e1d2ed/report.\(suffix)")
        #expect(file.headers[.contentType]?.hasPrefix(type) == true)
        let disposition = try #require(file.headers[.contentDisposition])
        #expect(disposition == "attachment; filename=\"run-e1d2ed.\(suffix)\"")
      }
    }
  }

  @Test func tablesAreFilteredSortedAndPaged() async throws {
    try await PageFixture().test { client in
      let user = try await client.loggedIn(as: .viewer)
      let first = try await user.get("/runs/e1d2ed/devices?size=20&sort=attempts&order=desc").text
      #expect(first.contains("60 devices"))
      #expect(first.contains("Page 1 of 3"))
      #expect(first.contains("aria-sort=\"descending\""))
      #expect(first.contains("?sort=attempts&amp;order=desc&amp;size=20&amp;page=2"))
      let lisbon = try await user.get("/runs/e1d2ed/devices?site=Lisbon&q=door%201").text
      #expect(lisbon.contains("<option value=\"Lisbon\" selected>"))
      #expect(lisbon.contains("value=\"door 1\""))
      for query in [
        "page=0", "page=x", "size=1000", "sort=x", "order=x", "outcome=x", "wave=0", "q=%FF",
      ] {
        #expect(try await user.get("/runs/e1d2ed/devices?\(query)").status == .badRequest)
      }
    }
  }

  @Test(arguments: [
    "/runs/none", "/runs/..%2F..%2Fetc", "/runs/none/devices", "/devices/none",
    "/runs/a11fe0/devices/none", "/runs/none/report", "/runs/none/pause", "/runs/none/events",
    "/runs/%00",
  ])
  func unknownNamesAreNotFound(_ path: String) async throws {
    try await PageFixture().test { client in
      let user = try await client.loggedIn(as: .op)
      #expect(try await user.get(path).status == .notFound)
    }
  }

  @Test func aDeviceHasItsHistory() async throws {
    try await PageFixture().test { client in
      let user = try await client.loggedIn(as: .viewer)
      let text = try await user.get("/devices/C0%3AFF%3AEE%3A00%3A00%3A00").text
      #expect(text.contains("/runs/a11fe0/devices/C0%3AFF%3AEE%3A00%3A00%3A00"))
      #expect(text.contains("/runs/e1d2ed/devices/C0%3AFF%3AEE%3A00%3A00%3A00"))
      let all = try await user.get("/devices").text
      #expect(all.contains("60 devices"))
    }
  }

  @Test func theStreamEndsWithTheRun() async throws {
    let fixture = try await PageFixture()
    try await fixture.test { client in
      let user = try await client.loggedIn(as: .viewer)
      let accept: HTTPFields = [.accept: "text/event-stream"]
      let ended = try await user.get("/runs/e1d2ed/events", headers: accept)
      #expect(ended.headers[.contentType] == "text/event-stream")
      #expect(ended.text.hasPrefix("event: parts\ndata: "))
      #expect(ended.text.hasSuffix("event: ended\ndata: \n\n"))
      #expect(ended.text.contains("data-live"))
      #expect(try await client.get("/events", headers: accept).status == .unauthorized)
    }
  }

  /// A stream sends the changes of a run, and ends when the session of its user ends.
  @Test func theStreamFollowsTheRunAndTheSession() async throws {
    let fixture = try await PageFixture()
    let coordinator = fixture.coordinator
    try coordinator.store.request(
      .resume, by: OperatorAction(.approve, by: "x", reason: "x"), of: PageFixture.run,
      at: SampleRun.began)
    fixture.clocks.whileWaiting {
      do { try await coordinator.step(events: 3) } catch { Issue.record("\(error)") }
      // The run needs more than the idle lifetime.
      fixture.clocks.advance(by: .seconds(600))
    }
    try await fixture.test { client in
      let user = try await client.loggedIn(as: .viewer)
      let response = try await user.get(
        "/runs/a11fe0/events", headers: [.accept: "text/event-stream"])
      let count = response.text.ranges(of: "event: parts").count
      #expect(count > 5 && count < 20)
      #expect(!response.text.contains("event: ended"))
      #expect(try await user.get("/").status == .seeOther)
    }
  }
}
#endif
