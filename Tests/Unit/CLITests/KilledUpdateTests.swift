import Foundation
import OtaflashBench
import OtaflashFirmware
import OtaflashSimulation
import Testing

/// Updates of each kind of device, each killed in the middle, and the same command again. In all
/// but one case, the device is another process, which keeps running. With `OTAFLASH_TRANSCRIPTS`, the outputs are
/// written into that folder.
@Suite(.waitsForPrograms) struct KilledUpdateTests {
  /// The way in which the second command continues.
  enum Continuation: Equatable {
    case resumed
    case startedOver
    /// The device must be restarted first.
    case refused
  }

  private static let script = [UInt8](repeating: 0x5A, count: 6_000)
  private static let package = """
    import json, sys, zipfile
    folder = sys.argv[1]
    with zipfile.ZipFile(folder + "/app.zip", "w") as archive:
        archive.write(folder + "/app.bin", "app.bin")
        archive.write(folder + "/app.dat", "app.dat")
        manifest = {"application": {"bin_file": "app.bin", "dat_file": "app.dat"}}
        if sys.argv[2] == "legacy":
            manifest["dfu_version"] = 0.5
        archive.writestr("manifest.json", json.dumps({"manifest": manifest}))
    """

  /// Writes the new image of a device in its file format, and returns the path.
  private static func image(for kind: DeviceKind, in program: Program) throws -> String {
    if let settings: MicrobitSettings = kind.settings() {
      return try program.file("app.hex", SampleImage.microbit(script, for: settings))
    }
    let image = try SelfTestImage.of(kind)
    let isGBL = kind.settings() as SilabsSettings? != nil
    let app = try program.file(isGBL ? "app.gbl" : "app.bin", image.bytes)
    guard case .nordic(let packet) = image.content else { return app }
    _ = try program.file("app.dat", packet.bytes)
    let isLegacy = if case .legacy = packet.command { true } else { false }
    let outcome = try Program.runTool([
      "python3", "-c", package, program.home.path, isLegacy ? "legacy" : "secure",
    ])
    #expect(outcome.status == 0, "\(outcome.errors)")
    return program.home.path + "/app.zip"
  }

  @Test(arguments: [
    ("plain", Continuation.resumed), ("smp", .resumed), ("smp?mode=single", .resumed),
    ("nordic-dfu", .resumed), ("nordic-legacy", .startedOver), ("infinitime", .startedOver),
    ("esp-nimble", .refused), ("esp-bluedroid", .refused), ("esp-raw", .refused),
    ("esp-nimbleota", .startedOver), ("esp-bleota", .startedOver),
    ("silabs", .startedOver), ("silabs-app-ota", .startedOver),
    ("telink", .startedOver), ("telink-legacy", .startedOver),
    ("suota", .startedOver), ("suota-da1453x", .startedOver),
    ("ti-oad", .startedOver), ("ti-oad-mcuboot", .startedOver), ("lego-oad", .startedOver),
    ("microbit", .startedOver), ("microbit-v1", .startedOver), ("calliope", .startedOver),
    ("microbit-v1?runtime=other", .startedOver),
  ])
  func theSameCommandContinues(_ profile: String, _ wanted: Continuation) throws {
    // On a busy machine, an update may end before it is killed; another device is used then.
    var outcome: Program.Outcome?
    for _ in 0..<3 where outcome == nil { outcome = try Self.killAndRepeat(profile) }
    let second = try #require(outcome)
    if let folder = ProcessInfo.processInfo.environment["OTAFLASH_TRANSCRIPTS"] {
      let text = "\(profile): exit \(second.status)\n\(second.errors)\(second.output)"
      try Data(text.utf8).write(to: URL(filePath: folder).appending(path: profile + ".txt"))
    }
    let (statuses, phrase): ([Int32], String) =
      switch wanted {
      case .resumed: ([0], "resume from ")
      case .startedOver: ([0, 8], "the transfer starts over")
      case .refused: ([6], "it holds an unfinished transfer that only a restart of the device ends")
      }
    #expect(statuses.contains(second.status), "\(second.errors)")
    #expect(second.errors.contains(phrase), "\(second.errors)")
    #expect(second.errors.contains("an earlier run was interrupted after"), "\(second.errors)")
  }

  /// Kills an update in the middle, and returns the outcome of the same command afterwards; `nil`
  /// if the update ended before it was killed.
  private static func killAndRepeat(_ profile: String) throws -> Program.Outcome? {
    let program = try Program()
    let kind = try SimulationProfile(parsing: profile).device
    // A socket has no pairing, which this device requires.
    let isInProcess = profile == "lego-oad"
    let socket = program.home.path + "/d"
    let device =
      try isInProcess
      ? nil : program.start(["simulate", "--listen", socket, "--profile", profile])
    defer {
      device?.send(SIGTERM)
      _ = device?.end()
    }
    let isListening = device?.waitUntilItPrints("listening") ?? true
    try #require(isListening)
    let words = [
      "flash", try image(for: kind, in: program), "-d",
      isInProcess ? "sim:" + profile : "unix:" + socket,
    ]
    let killed = try program.start(words + ["--json"])
    let isInTransfer = (0..<2).allSatisfy { _ in killed.waitUntilItPrints("task_progress") }
    killed.send(SIGKILL)
    let first = killed.end()
    try #require(isInTransfer, "\(first.output)")
    return first.reason == .uncaughtSignal ? try program.run(words) : nil
  }
}
