import Foundation
import Testing

/// Tests of `flash --watch`, with the built program and files that change.
@Suite(.waitsForPrograms) struct FlashWatchTests {
  /// Replaces a file as build tools do: a new file with the name of the old one.
  private static func build(_ bytes: Data, _ path: String) throws {
    try bytes.write(to: URL(filePath: path + ".tmp"))
    guard rename(path + ".tmp", path) == 0 else { throw POSIXError(.EIO) }
  }

  private static func sample(_ name: String) throws -> Data {
    try Data(contentsOf: Program.root.appending(path: "firmware-samples/\(name)"))
  }

  @Test func eachBuildIsFlashedAndABrokenOneIsSkipped() throws {
    let program = try Program()
    let path = program.home.path + "/build/app.bin"
    let run = try program.start(
      ["flash", "--watch", path, "-d", "sim:fast?version=1.0.0", "--json"])
    let hasStarted = run.waitUntilItPrints(#""outcome":"waiting""#)
    try #require(hasStarted)
    // The folder of the build appears only now.
    try FileManager.default.createDirectory(
      atPath: program.home.path + "/build", withIntermediateDirectories: true)
    try Self.build(try Self.sample("app-1.2.0.bin"), path)
    let isFlashed = run.waitUntilItPrints(#""outcome":"flashed""#)
    try #require(isFlashed)
    try Self.build(Data("<html>404</html>".utf8), path)
    let isSkipped = run.waitUntilItPrints(#""outcome":"skipped""#)
    try #require(isSkipped)
    try Self.build(try Self.sample("app-1.3.0.bin"), path)
    let isFlashedAgain = run.waitUntilItPrints(#""outcome":"flashed""#)
    try #require(isFlashedAgain)
    run.send(SIGINT)
    let outcome = run.end()
    #expect(outcome.reason == .uncaughtSignal && outcome.status == SIGINT, "\(outcome.errors)")
    #expect(outcome.output.contains(#""outcome":"watched""#))
    #expect(outcome.output.contains(#""number":2"#))
    let check = try Program.runTool(
      ["python3", "Tests/Support/check-events.py", "docs/events.schema.json", "130"],
      input: outcome.output)
    #expect(check.status == 0, "\(check.errors)\n\(outcome.output)")
  }

  @Test func standardInputCannotBeWatched() throws {
    let outcome = try Program().run(["flash", "--watch", "-", "-d", "sim:"])
    #expect(outcome.status == 64 && outcome.code == "E-USAGE")
  }
}
