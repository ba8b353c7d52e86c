#if Fleet
import Foundation
import OtaflashFleet
import OtaflashFleetReport
import OtaflashFleetSamples
import Testing

/// Tests of the text of the page; `Tests/System/FleetReportPage` tests the page in a browser.
@Suite struct HTMLReportTests {
  static let surroundings: ReportSurroundings = {
    var surroundings = ReportSurroundings(
      program: "otaflash 1.4.0", written: SampleRun.began.advanced(by: .seconds(3600)))
    surroundings.chain = .init(events: 400, head: Array(repeating: 0xAB, count: 32))
    surroundings.verification = "otaflash fleet report k3f9 --verify"
    return surroundings
  }()

  static func page(_ sample: SampleRun, _ surroundings: ReportSurroundings = surroundings) throws
    -> String
  {
    HTMLReport.text(try #require(RunReport(sample.history())), in: surroundings)
  }

  @Test func theSummaryIsFirst() throws {
    let page = try Self.page(SampleRun(devices: 60, adapters: 2))
    let order = [
      "<h1>58 of 60 devices run 1.3.0, verified by read-back; 1 failed, 1 was not found</h1>",
      "complete, 2 not updated", "23 Nov 2026, 09:20 to 09:27 UTC, 7 min 28 s",
      "Overview", "door-1.3.0.bin, version 1.3.0, 65.5 kB", "anna@line-3", "Outcome by wave",
      "<h3><bdi>canary</bdi></h3>", "approved at 09:25:25", "Failures by cause",
      "The image is for other hardware", "Check that the campaign names the right image",
      "Resolved by retries", "Devices by adapter", "Throughput", "Devices</h2>", "door 60",
      "Evidence", String(repeating: "ab", count: 32), "otaflash fleet report k3f9 --verify",
      "Created by otaflash 1.4.0 on 23 Nov 2026, 10:20 UTC",
    ]
    var rest = page[...]
    for text in order {
      let found = try #require(rest.range(of: text), "\(text) is missing or too early")
      rest = rest[found.upperBound...]
    }
  }

  @Test func thePageLoadsNoOtherFiles() throws {
    let page = try Self.page(SampleRun(devices: 60, adapters: 2))
    for word in ["http:", "https:", "href=", "src=", "@import", "url(h", "<link", "<img", "//"] {
      #expect(!page.contains(word), "\(word)")
    }
    #expect(page.contains("content=\"default-src &#39;none&#39;; style-src &#39;sha256-"))
    #expect(page.components(separatedBy: "<script").count == 2)
  }

  @Test func textFromDevicesIsEscaped() throws {
    var sample = SampleRun(devices: 60, adapters: 2)
    sample.names = SampleRun.hostileNames
    sample.campaign = SampleRun.hostileNames[1]
    sample.startedBy = SampleRun.hostileNames[12]
    sample.sites = SampleRun.hostileNames
    let page = try Self.page(sample)
    let plain = try Self.page(SampleRun(devices: 60, adapters: 2))
    func count(_ word: String, _ page: String) -> Int {
      // The search compares bytes, because in Swift a combining mark and the character before it
      // are one character.
      Array(page.utf8).split(separator: UInt8(ascii: "<")).count { $0.starts(with: word.utf8) }
    }
    for word in ["script", "/script", "/title", "svg", "img", "b>"] {
      #expect(count(word, page) == count(word, plain), "<\(word)")
    }
    #expect(!Self.contains(page, "\" onmouseover") && !Self.contains(page, "\"\u{308}"))
    #expect(Self.contains(page, "&quot;\u{308}\u{308} onmouseover=alert(1) x=&quot;\u{308}"))
    #expect(page.contains("right\\u202etfel\\u2066") && page.contains("two\\u000d\\u000alines"))
    #expect(page.contains("{{#devices}}{{.}}") && page.contains("{{{script}}}"))
    #expect(page.contains("&amp;lt;b&amp;gt; &amp;amp;"))
    let hidden = page.unicodeScalars.filter {
      ($0.value < 0x20 && $0 != "\n") || (0x202A...0x202E).contains($0.value)
        || (0x7F...0x9F).contains($0.value) || (0x2066...0x2069).contains($0.value)
    }
    #expect(hidden.isEmpty)
    // A name of 3,000 accents, or of 800 letters, is truncated.
    #expect(page.utf8.count < plain.utf8.count * 2)
  }

  private static func contains(_ page: String, _ part: String) -> Bool {
    Data(page.utf8).range(of: Data(part.utf8)) != nil
  }

  @Test func tenThousandDevicesFitIntoFiveMegabytes() throws {
    let page = try Self.page(SampleRun(devices: 10_000, adapters: 20))
    #expect(page.utf8.count < 5_000_000)
    #expect(page.components(separatedBy: "<tr class=").count - 1 == 10_000)
    // The printed page shows only devices that did not succeed: 400 of 10,000.
    #expect(page.components(separatedBy: " paper\">").count - 1 == 400)
    #expect(page.contains("This table lists 400 devices"))
    // Each adapter is drawn as one line, and not as ten thousand bars.
    #expect(page.components(separatedBy: "<rect").count < 6000)
    #expect(page.components(separatedBy: "class=\"load\"").count - 1 == 20)
  }

  @Test func anUnfinishedRunIsMarked() throws {
    let history = SampleRun(devices: 60, adapters: 2).history()
    let report = try #require(RunReport(Array(history.prefix(history.count / 2))))
    let page = HTMLReport.text(report, in: Self.surroundings)
    #expect(page.contains("in progress</span>") && page.contains("as of 09:2"))
    #expect(page.contains(" wait</h1>") && page.contains("Not started."))
    #expect(!page.contains(">Ended</dt>"))
  }

  @Test func aRunWithoutAttemptsHasAPage() throws {
    let history = SampleRun(devices: 60, adapters: 2).history()
    let report = try #require(RunReport(Array(history.prefix(1))))
    let page = HTMLReport.text(report, in: Self.surroundings)
    #expect(page.contains("<h1>0 of 0 devices run 1.3.0</h1>") && !page.contains("Throughput"))
  }

  @Test func theAirLimitIsDrawnIfItIsNearAndAlwaysStated() throws {
    var surroundings = Self.surroundings
    let sample = SampleRun(devices: 60, adapters: 2)
    #expect(!(try Self.page(sample, surroundings)).contains("The air limit of"))
    surroundings.air = .init(bytesPerSecond: 88_000, words: "2M, 15 ms")
    let near = try Self.page(sample, surroundings)
    #expect(near.contains("The air limit of 2 adapters is 176.0 kB/s (2M, 15 ms)"))
    #expect(near.contains("air limit, 176.0 kB/s</text>"))
    surroundings.air = .init(bytesPerSecond: 10_000_000, words: "a dream")
    let far = try Self.page(sample, surroundings)
    #expect(far.contains("is 20.0 MB/s (") && !far.contains("air limit,"))
  }

  @Test func timesUseTheTimeZone() throws {
    var surroundings = Self.surroundings
    surroundings.zone = ZoneOffsets(minutes: 60)
    surroundings.zoneName = "CET"
    let page = try Self.page(SampleRun(devices: 3, adapters: 1), surroundings)
    #expect(page.contains("23 Nov 2026, 10:20:00 to 10:20:2") && page.contains("times in CET"))
  }
}
#endif
