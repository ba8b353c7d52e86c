#if Fleet
import Foundation
import OtaflashFleet
import Testing

@testable import OtaflashFleetFiles

/// Tests of files that are designed to cost time or memory, of files that are not text, and of
/// files of maximum size.
@Suite struct HostileCampaignTests {
  /// Small files with complex keys that expand to thousands of nodes, each of which Yams would
  /// hash. Every two additional aliases double the number of nodes. The test covers all possible
  /// positions of aliases.
  @Test(arguments: [
    ("[", "*", "]"), ("[", "\u{85}*", "]"), ("[", "\u{2028}*", "]"), ("[", "\u{2029}*", "]"),
    ("{1: x, ? ", "\u{2028}*", "}"), ("{\"1\"", ":*", "}"), ("{1: x, ", "?*", "}"),
  ])
  func anAliasBombIsRefusedImmediately(open: String, alias: String, close: String) throws {
    var text = "a: [&a0 [x]"
    for level in 1...12 {
      let one = open + alias + "a\(level - 1)" + close
      text += ", &a\(level) [\(one), \(one)]"
    }
    text += ", {? *a12 : x}]\n"
    let fault = #expect(throws: CampaignFileFault.self) { try CampaignFileTests.read(text) }
    #expect(try #require(fault).description.contains("the 17th '*' that could be an alias"))
  }

  @Test func deepNestingIsRefused() {
    let deep = String(repeating: "[", count: 100_000)
    #expect(throws: CampaignFileFault.self) { try CampaignFileTests.read("campaign: " + deep) }
    let nested = String(repeating: "- ", count: 50_000) + "x"
    #expect(throws: CampaignFileFault.self) { try CampaignFileTests.read(nested) }
  }

  @Test func bytesThatAreNotTextAreRefused() {
    #expect {
      try CampaignFile(bytes: [0x63, 0x0A, 0x63, 0xE9, 0x3A], now: CampaignFileTests.now)
    } throws: {
      "\($0)".hasPrefix("line 2, column 2: the byte 0xE9, 'é' in Latin-1, is not UTF-8")
    }
    #expect(throws: CampaignFileFault.self) {
      try CampaignFile(bytes: Array("campaign: \u{0}".utf8), now: CampaignFileTests.now)
    }
  }

  /// Reading, checking and assigning devices to waves use bounded memory.
  @Test func aHundredThousandDevicesAreAssignedToWaves() throws {
    let lines = (0..<100_000).map {
      "  - {id: d\($0), name: door \($0), board: b, tags: [x, y]}\n"
    }
    let text =
      "campaign: c\nimages: {b: i}\nselect: tag:x\nwaves:\n  - devices: 10\n  - devices: 10%\n"
      + "  - devices: rest\ndevices:\n" + lines.joined()
    let before = try Self.residentBytes()
    let plan = try CampaignFileTests.read(text).plan(now: CampaignFileTests.now)
    let grown = try Self.residentBytes() - before
    #expect(plan.waves.map(\.devices.count) == [10, 9990, 90_000])
    #expect(grown < 1024 * 1024 * 1024)
  }

  /// Returns the resident memory of this process in bytes. The second field of statm, proc(5), has
  /// pages of 4096 bytes.
  private static func residentBytes() throws -> Int {
    let text = try String(contentsOfFile: "/proc/self/statm", encoding: .utf8)
    return try #require(Int(text.split(separator: " ")[1])) * 4096
  }

  @Test func theMaximumNumberOfDevicesIsAHundredThousand() throws {
    let head = "campaign: c\nimage: a\ndevices:\n"
    let lines = (0..<100_000).map { "  - d\($0)\n" }.joined()
    #expect(try CampaignFileTests.read(head + lines).campaign.devices.count == 100_000)
    #expect(throws: CampaignFileFault.self) {
      try CampaignFileTests.read(head + lines + "  - one more\n")
    }
  }

  @Test func aDocumentWithTooManyNodesIsRefusedBeforeItFillsTheMemory() {
    let text = "campaign: c\ndevices: [" + String(repeating: "a,", count: 2_000_000) + "]"
    #expect {
      try CampaignFile(bytes: Array(text.utf8), now: WallClockTime(milliseconds: 0))
    } throws: { "\($0)" == "line 2, column 1: the file has more than 2000000 elements" }
  }
}
#endif
