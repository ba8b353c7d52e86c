#if Fleet
import Foundation
import OtaflashFleet
import Testing

@testable import OtaflashFleetFiles

/// Tests of the example campaigns, the schema and the document.
@Suite struct ShippedCampaignTests {
  static let root = URL(filePath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

  /// These example campaigns are valid, and their files exist.
  @Test(arguments: ["campaign-sim", "campaign-canary", "campaign-boards"])
  func theExamplesAreValid(_ name: String) throws {
    let folder = Self.root.appending(path: "Examples")
    let bytes = [UInt8](try Data(contentsOf: folder.appending(path: name + ".yaml")))
    var file = try CampaignFile(bytes: bytes, now: CampaignFileTests.now)
    if let path = file.devicesFile {
      let table = [UInt8](try Data(contentsOf: folder.appending(path: path)))
      file = file.adding(try DeviceTable(path: path, bytes: table), path: path)
    }
    if file.simulatedFleet != nil {
      // The simulation creates the boards.
      let boards = (1...40).map { FleetDevice(id: "board-\($0)") }
      file = file.adding(boards, from: .simulatedFleet)
    }
    let plan = try file.plan(now: CampaignFileTests.now)
    #expect(plan.deviceCount >= 3)
    for image in file.campaign.images.values {
      let path = folder.appending(path: image).path
      #expect(FileManager.default.fileExists(atPath: path), "\(path)")
    }
  }

  static let keys: [String: [String]] = [
    "campaign": CampaignFile.keys, "device": DeviceListReading.keys, "wave": WaveReading.keys,
    "window": WindowReading.keys, "retries": OptionReading.retryKeys,
    "flash": OptionReading.flashKeys, "hooks": HookReading.keys, "scan": ScanReading.keys,
    "stop": WaveReading.stopKeys, "battery": RequirementReading.batteryKeys,
  ]

  /// The schema contains every key that the reader accepts.
  @Test func theSchemaHasEveryKey() throws {
    let data = try Data(
      contentsOf: Self.root.appending(path: "docs/campaign.schema.json"))
    let schema = try #require(JSONSerialization.jsonObject(with: data) as? [String: Any])
    let definitions = try #require(schema["$defs"] as? [String: [String: Any]])
    for (name, keys) in Self.keys {
      let object = name == "campaign" ? schema : definitions[name]
      let properties = try #require(object?["properties"] as? [String: Any], "\(name)")
      #expect(properties.keys.sorted() == keys.sorted(), "\(name)")
      #expect(object?["additionalProperties"] as? Bool == false, "\(name)")
    }
  }

  @Test func theDocumentHasEveryKey() throws {
    let text = try String(
      contentsOf: Self.root.appending(path: "docs/fleet.md"), encoding: .utf8)
    for (name, keys) in Self.keys {
      for key in keys { #expect(text.contains("| `\(key)` |"), "\(name): \(key)") }
    }
  }
}
#endif
