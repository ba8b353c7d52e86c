import Foundation
import OtaflashUpdate
import Testing

@testable import OtaflashConsole
@testable import OtaflashDevices
@testable import otaflash

/// What is said of sizes of data writes that were tried.
@Suite struct SizeOutputTests {
  private static let tried = SizeReport(
    tried: [
      SizeReport.Rate(chunk: 491, bytesPerSecond: 161_448.4),
      SizeReport.Rate(chunk: 470, bytesPerSecond: 169_427),
    ], kept: SizeReport.Rate(chunk: 470, bytesPerSecond: 169_427))
  private static let remembered = SizeReport(tried: [], kept: tried.kept)

  @Test func aLineTellsThem() {
    #expect(
      Self.tried.sentence
        == "data writes of 470 bytes, the best of those tried: 491 at 161.4 kB/s, 470 at 169.4 kB/s"
    )
    #expect(
      Self.remembered.sentence
        == "data writes of 470 bytes, the best of an earlier update (169.4 kB/s)")
  }

  @Test func anEventTellsThem() {
    func text(_ report: SizeReport) -> String {
      var trace = DeviceTrace(device: "d")
      let told = trace.observe(.sized(report), at: .zero)
      #expect(told.map(\.type) == ["flow"])
      return JSONValue.object(told.first?.members ?? []).text
    }
    #expect(
      text(Self.tried)
        == #"{"event":"sizes-tried","chunk":470,"rate_bytes_per_second":169427,"tried":["#
        + #"{"chunk":491,"rate_bytes_per_second":161448},"#
        + #"{"chunk":470,"rate_bytes_per_second":169427}],"device":"d"}"#)
    #expect(
      text(Self.remembered)
        == #"{"event":"size-remembered","chunk":470,"rate_bytes_per_second":169427,"device":"d"}"#)
  }

  /// The schema knows each event and member.
  @Test(arguments: [tried, remembered])
  func theEventsAgreeWithTheSchema(_ report: SizeReport) throws {
    var lines = UpdateLines()
    var stream = [
      lines.line(
        "hello",
        [
          "ts": "2026-11-23T12:00:00.000Z", "tool": "otaflash", "version": "0.1.0",
          "command": "flash",
        ])
    ]
    stream += lines.observe(.sized(report), of: "sim:", at: .zero)
    stream.append(
      lines.line(
        "result", ["exit": .integer(0), "outcome": "flashed", "devices": .array([])]))
    let outcome = try Program.runTool(
      ["python3", "Tests/check-events.py", "docs/events.schema.json", "0"],
      input: stream.joined(separator: "\n") + "\n")
    #expect(outcome.status == 0, "\(outcome.errors)")
  }

  /// A person sees it where more was asked for, by another way than the progress.
  @Test func theProgressIsNotDisturbed() {
    var transcript = HumanTranscript(
      device: "d", targetVersion: nil, progress: .plain, style: .plain)
    #expect(transcript.observe(.sized(Self.tried), at: .zero).isEmpty)
  }
}
