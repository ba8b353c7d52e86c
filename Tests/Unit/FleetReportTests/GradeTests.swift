import OtaflashFirmware
import OtaflashFleet
import OtaflashFleetReport
import Testing

/// Tests of the verification grades in the headline and in the tables.
@Suite struct GradeTests {
  private static func figures(_ proof: String, to version: FirmwareVersion?) -> UpdateFigures {
    UpdateFigures(
      from: nil, to: version, proof: proof, bytes: 1, uploadMilliseconds: 1, resumes: 0)
  }

  /// Returns the report of a run with one image of this version, and devices with these outcomes.
  private static func report(
    _ devices: [(proof: String, version: FirmwareVersion?)], image: String? = "1.3.0"
  ) throws -> RunReport {
    var beginning = RunBeginning(
      id: "r", campaign: "c", digest: "d", devices: devices.count, waves: 1)
    beginning.images = [RunImage(digest: "i", name: "a.bin", version: image, sha256: "abc")]
    beginning.settings = [
      RunSetting("parallel", "automatic"), RunSetting("overrides", "force"),
      RunSetting("hook run-ended", "./notify"),
    ]
    let ids = devices.indices.map { "d\($0)" }
    var events: [(Double, FleetEvent)] = [
      (0, .runBegan(beginning)),
      (0, .wavePlanned(wave: 0, name: "all", devices: ids.map { RunDevice(id: $0, image: "i") })),
      (0, .waveBegan(wave: 0)),
    ]
    for (id, device) in zip(ids, devices) {
      events += RunReportTests.attempt(
        id, 1, 1, 2, .updated(figures(device.proof, to: device.version)))
      events.append((3, .deviceSettled(device: id, ending: .updated)))
    }
    return try #require(RunReport(RunReportTests.history(events)))
  }

  private static let new = FirmwareVersion(1, 3, 0)

  /// 33 devices report the version of their image. 3 devices report no version, but their
  /// bootloader accepted the image.
  @Test func devicesWithoutTheVersionAreCountedSeparately() throws {
    let devices =
      Array(repeating: (proof: "read-back", version: Self.new), count: 33)
      + Array(repeating: (proof: "boot-loader", version: FirmwareVersion?.none), count: 3)
    let report = try Self.report(devices)
    #expect(
      report.headline == "33 of 36 devices run 1.3.0, verified by read-back; "
        + "3 others do not report the image's version, but run the new image, "
        + "verified by their bootloader's report")
    #expect(report.grades.weakest == .bootloader)
    #expect(report.grades.words == "33 read-back, 3 bootloader's report")
  }

  @Test func eachGradeHasItsCount() throws {
    let devices = ["read-back", "version", "version", "boot-loader", "none"]
      .map { (proof: $0, version: Optional(Self.new)) }
    let report = try Self.report(devices)
    #expect(
      report.headline == "All 5 devices run 1.3.0: 1 verified by read-back, "
        + "2 by the version that they report, 1 by its bootloader's report, 1 not verified")
    #expect(report.grades.weakest == VerificationGrade.none)
  }

  /// `1.3.0+7` in the file corresponds to `1.3.0` on the device; any other version differs from the
  /// image's version.
  @Test func aBuildNumberIsIgnoredAndAnotherVersionIsNot() throws {
    let same = try Self.report([(proof: "read-back", version: Self.new)], image: "1.3.0+7")
    #expect(same.headline == "1 of 1 device runs 1.3.0, verified by read-back")
    let other = try Self.report([
      (proof: "version", version: Self.new), (proof: "version", version: FirmwareVersion(1, 2, 9)),
    ])
    #expect(other.headline.hasPrefix("1 of 2 devices runs 1.3.0, verified by the version"))
    #expect(
      other.headline.contains("1 other does not report the image's version, but runs the new"))
  }

  @Test func theTableHasTheGradeTheHashAndTheOverrides() throws {
    let report = try Self.report([(proof: "version", version: Self.new)])
    let lines = CSVReport.text(report).split(separator: "\r\n")
    #expect(lines[0].hasSuffix(",verification,image_sha256,overrides,hooks"))
    #expect(lines[1].hasSuffix(",version,abc,force,hook run-ended: ./notify"))
  }
}
