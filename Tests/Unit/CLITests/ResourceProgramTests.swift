import Foundation
import Testing

/// Tests of `flash` with resources of InfiniTime, with the built program on a simulated watch.
@Suite(.waitsForPrograms) struct ResourceProgramTests {
  private static let watch = "sim:infinitime?interval=7.5ms"
  private static let firmware = "Tests/Unit/FirmwareTests/Fixtures/Nordic/legacy-0.5.zip"

  /// Writes a package with two files, and returns its path.
  private static func package(in program: Program, bytes: Int = 1_000) throws -> String {
    let path = program.home.path + "/resources.zip"
    let script = """
      import json, random, sys, zipfile
      path, size = sys.argv[1], int(sys.argv[2])
      files = [("teko.bin", "/fonts/teko.bin", size), ("logo.bin", "/logo.bin", 50)]
      with zipfile.ZipFile(path, "w") as archive:
          for name, _, count in files:
              archive.writestr(name, random.Random(1).randbytes(count))
          archive.writestr("resources.json", json.dumps({
              "resources": [{"filename": n, "path": p} for n, p, _ in files],
              "obsolete_files": [{"path": "/old.bin", "since": "1.0.0"}]}))
      """
    let outcome = try Program.runTool(["python3", "-c", script, path, "\(bytes)"])
    #expect(outcome.status == 0, "\(outcome.errors)")
    return path
  }

  @Test func aPackageOfResourcesIsStoredOnce() throws {
    let program = try Program()
    let package = try Self.package(in: program)
    let words = ["flash", package, "-d", Self.watch]
    let dry = try program.run(words + ["--dry-run"])
    #expect(dry.status == 0 && dry.output.contains("2 files would be sent"), "\(dry.errors)")
    let first = try program.run(words)
    #expect(first.status == 0, "\(first.errors)")
    #expect(first.output.contains("resources  2 files sent and read back, in "), "\(first.output)")
    let second = try program.run(words + ["--json"])
    #expect(second.output.contains(#""type":"resources","outcome":"present""#))
    try Program.checkEvents(of: second)
  }

  @Test func firmwareAndResourcesNeedOneCommand() throws {
    let program = try Program()
    let package = try Self.package(in: program)
    let outcome = try program.run([
      "flash", Self.firmware, "--resources", package, "-d", Self.watch, "--json",
    ])
    #expect(outcome.status == 0, "\(outcome.errors)")
    #expect(outcome.output.contains(#""type":"resources","outcome":"sent""#), "\(outcome.output)")
    try Program.checkEvents(of: outcome)
  }

  /// The process is killed in the middle of a file; the same command resumes this file.
  @Test func aKilledProcessIsResumed() throws {
    let program = try Program()
    let words = ["flash", try Self.package(in: program, bytes: 9_000), "-d", Self.watch]
    let run = try program.start(words + ["--json"])
    for _ in 0..<4 { try #require(run.waitUntilItPrints("task_progress")) }
    run.send(SIGKILL)
    #expect(run.end().status == SIGKILL)
    let resumed = try program.run(words)
    #expect(resumed.status == 0, "\(resumed.errors)")
    #expect(resumed.output.contains(", resumed from "), "\(resumed.output)")
    #expect(resumed.errors.contains("resume from "), "\(resumed.errors)")
  }

  @Test func mistakesAreReported() throws {
    let program = try Program()
    let package = try Self.package(in: program)
    let cases: [([String], Int32, String)] = [
      (
        ["flash", package, "-d", Self.watch + "&disabled=yes"], 77,
        "open Settings, then Over-the-air"
      ),
      (["flash", package, "-d", "sim:fast"], 5, "file transfer service"),
      (
        ["flash", Self.firmware, "--resources", Self.firmware, "-d", Self.watch], 65,
        "no resources.json"
      ),
      (["flash", Self.firmware, "--resources", "none.zip", "-d", Self.watch], 66, "none.zip"),
      (
        ["flash", Self.firmware, "--resources", package, "-d", Self.watch, "--watch"], 64,
        "--resources cannot be combined"
      ),
    ]
    for (words, status, text) in cases {
      let outcome = try program.run(words)
      #expect(outcome.status == status && outcome.errors.contains(text), "\(outcome.errors)")
    }
  }
}
