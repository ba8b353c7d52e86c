#if Fleet
import OtaflashFleet
import OtaflashFleetFiles
import Testing

/// Tests of reviewed plans, and of the differences from them.
@Suite struct SavedPlanTests {
  private static func plan(
    _ text: String = CampaignFileTests.minimal, digest: String = "t", image: String = "i",
    parallel: String = "automatic"
  ) throws -> SavedPlan {
    SavedPlan(
      try CampaignFileTests.read(text).plan(now: CampaignFileTests.now), text: digest,
      settings: [RunSetting("parallel", parallel)],
      images: [SavedPlan.Image(file: "a.bin", sha256: image, identity: image)])
  }

  @Test func aSavedPlanIsReadBackUnchanged() throws {
    let plan = try Self.plan()
    let json = try plan.json()
    #expect(try SavedPlan(json: json) == plan)
    #expect(String(decoding: json, as: UTF8.self).hasPrefix(SavedPlan.head))
    #expect(plan.differences(from: plan).isEmpty)
  }

  @Test func everyDifferenceIsNamed() throws {
    let plan = try Self.plan()
    func differences(_ other: SavedPlan) -> [String] { plan.differences(from: other) }
    #expect(
      try differences(Self.plan(parallel: "3")) == ["parallel: 3 (plan: automatic)"])
    #expect(
      try differences(Self.plan(image: "j")) == ["image a.bin has SHA-256 j (plan: i)"])
    #expect(try differences(Self.plan(digest: "u")) == ["the text of the campaign was changed"])
    #expect(
      try differences(Self.plan("campaign: c\nimage: a.bin\ndevices: [sim:1, sim:3]\n"))
        == ["1 device added: sim:3", "1 device removed: sim:2"])
    #expect(
      try differences(
        Self.plan("campaign: c\nimage: a.bin\ndevices: [sim:1, {id: sim:2, site: x}]\n"))
        == ["1 device in another wave or with other properties: sim:2"])
    #expect(
      try differences(
        Self.plan(CampaignFileTests.minimal + "waves: [{devices: [sim:1]}, {devices: rest}]\n")
      ).count == 1)
    let many = (1...9).map { "sim:\($0)" }.joined(separator: ", ")
    #expect(
      try differences(Self.plan("campaign: c\nimage: a.bin\ndevices: [\(many)]\n"))
        .contains { $0.hasPrefix("7 devices added: ") && $0.hasSuffix("and 4 more") })
  }

  @Test(arguments: ["", "{}", "[1]", "{\"_otaflash_plan\": 1}"])
  func otherFilesAreRefused(_ text: String) {
    #expect(throws: SavedPlanFault.self) { try SavedPlan(json: Array(text.utf8)) }
  }

  @Test func aPlanInALaterFormatIsRefused() throws {
    let json = String(decoding: try Self.plan().json(), as: UTF8.self)
      .replacing("\"_otaflash_plan\" : 1", with: "\"_otaflash_plan\" : 2")
    #expect(throws: SavedPlanFault.self) { try SavedPlan(json: Array(json.utf8)) }
  }
}
#endif
