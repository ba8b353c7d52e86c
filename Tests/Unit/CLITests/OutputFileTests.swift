import Foundation
import Testing

@testable import OtaflashConsole
@testable import OtaflashProgram
@testable import otaflash

/// Tests that output files replace neither inputs nor files of another kind.
@Suite struct OutputFileTests {
  private let folder: URL

  init() throws {
    folder = FileManager.default.temporaryDirectory.appending(path: "otaflash-\(UUID())")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
  }

  private func path(_ name: String) -> String { folder.appending(path: name).path }

  private func write(_ name: String, _ bytes: [UInt8]) throws -> String {
    try Data(bytes).write(to: folder.appending(path: name))
    return path(name)
  }

  private func open(
    _ path: String, _ kind: OutputFile.Kind = .btsnoop, avoiding inputs: InputFiles = InputFiles()
  ) -> OutputFileFault? {
    let file = OutputFile(path: path, kind: kind, option: "--x")
    do throws(OutputFileFault) {
      try file.check(avoiding: inputs)
      close(try file.open(avoiding: inputs, isPrivate: true))
      return nil
    } catch {
      return error
    }
  }

  @Test func aNewFileIsPrivate() throws {
    let file = path("new")
    #expect(open(file) == nil)
    let attributes = try FileManager.default.attributesOfItem(atPath: file)
    #expect(attributes[.posixPermissions] as? Int == 0o600)
  }

  @Test func onlyFilesOfTheSameKindAreReplaced() throws {
    let kinds: [(OutputFile.Kind, [UInt8])] = [
      (.btsnoop, Array("btsnoop\0\0\0\0\u{1}".utf8)),
      (.html, Array("<!DOCTYPE html>".utf8)),
      (.svg, Array("<?xml version=\"1.0\"?>\n<!-- a > b -->\n<svg xmlns=\"x\">".utf8)),
    ]
    for (kind, _) in kinds {
      for (other, content) in kinds {
        let file = try write("\(kind) over \(other)", content)
        #expect(open(file, kind) == (kind == other ? nil : .otherKind), "\(kind) over \(other)")
        let size = try Data(contentsOf: URL(filePath: file)).count
        #expect(size == (kind == other ? 0 : content.count))
      }
      #expect(open(try write("empty", []), kind) == nil)
      #expect(open(try write("text", Array("btsnoo <svg".utf8)), kind) == .otherKind)
      #expect(open(path("."), kind) == .otherKind)
      #expect(open("/dev/null", kind) == nil)
    }
  }

  @Test func inputsAreDetectedUnderAnyName() throws {
    let capture = Array("btsnoop\0".utf8)
    let image = try write("image", capture)
    try FileManager.default.createSymbolicLink(
      atPath: path("link"), withDestinationPath: image)
    try #require(link(image, path("hard")) == 0)
    let inputs = InputFiles([image, path("not there")])
    for name in ["image", "./image", "link", "hard"] {
      #expect(open(folder.path + "/" + name, avoiding: inputs) == .isInput, "\(name)")
    }
    #expect(try Data(contentsOf: URL(filePath: image)) == Data(capture))
    #expect(open(path("link")) == nil, "a link to a capture that is not an input is followed")
  }

  @Test func aDanglingLinkCreatesNoFile() throws {
    try FileManager.default.createSymbolicLink(
      atPath: path("link"), withDestinationPath: path("target"))
    #expect(open(path("link")) == .danglingLink)
    #expect(!FileManager.default.fileExists(atPath: path("target")))
  }

  @Test func noFileIsCreatedInTheStateDirectory() throws {
    let inputs = InputFiles(folders: [folder.path])
    #expect(open(path("devices.json"), avoiding: inputs) == .isInput)
    #expect(!FileManager.default.fileExists(atPath: path("devices.json")))
  }

  @Test func aPipeWithoutAReaderIsNotWaitedFor() throws {
    try #require(mkfifo(path("pipe"), 0o600) == 0)
    let file = OutputFile(path: path("pipe"), kind: .btsnoop, option: "--capture")
    #expect(throws: OutputFileFault.system(errno: ENXIO)) {
      try file.open(avoiding: InputFiles(), isPrivate: true)
    }
  }
}

/// Tests of output files with the built program, and of other refusals of the system.
@Suite(.waitsForPrograms) struct HostTests {
  private static let image = "firmware-samples/blink-1.0.0.bin"

  private static func flash(_ image: String, _ more: String...) -> [String] {
    ["flash", image, "-d", "sim:fast", "--allow-downgrade", "--force"] + more
  }

  /// The test runs command lines, each with the existing file that it names as its output.
  @Test func inputsAreNotOverwritten() throws {
    let program = try Program()
    let content = try Data(contentsOf: Program.root.appending(path: Self.image))
    let image = try program.file("app.bin", content)
    let key = try program.file("key", [UInt8](repeating: 7, count: 32))
    let baseline = try program.file("base.json", Array("{}\n".utf8))
    for (words, file) in [
      (Self.flash(image, "--capture", image), image),
      (Self.flash(image, "--capture", program.home.path + "/./app.bin"), image),
      (Self.flash(image, "--key-file", key, "--capture", key), key),
      (["info", "-d", "unix:" + program.home.path + "/none", "--capture", image], image),
      (["bench", "-d", "sim:fast", "--baseline", baseline, "--capture", baseline], baseline),
      (["bench", "-d", "sim:fast", "--plot", image + ".svg", "--mtu", "247"], image + ".svg"),
    ] {
      if file.hasSuffix(".svg") { try Data("no drawing".utf8).write(to: URL(filePath: file)) }
      let before = try Data(contentsOf: URL(filePath: file))
      let outcome = try program.run(words)
      #expect([65, 73].contains(outcome.status), "\(words): \(outcome.errors)")
      #expect(try Data(contentsOf: URL(filePath: file)) == before, "\(words)")
    }
    let outcome = try program.run(Self.flash(image, "--capture", image))
    #expect(outcome.code == "E-OUTPUT")
    #expect(outcome.errors.contains("help: "))
    #expect(outcome.errors.contains("--capture \(image).btsnoop"), "\(outcome.errors)")
  }

  @Test func aForeignFlashFileIsRefused() throws {
    let program = try Program()
    let file = try program.file("letters", Array("dear".utf8))
    let outcome = try program.run(["simulate", "--reset", "--flash-file", file])
    #expect(outcome.status == 78, "\(outcome.errors)")
    #expect(FileManager.default.fileExists(atPath: file))
  }

  @Test func aSignalEndsTheWaitForAKey() throws {
    let program = try Program()
    let pipe = program.home.path + "/pipe"
    try #require(mkfifo(pipe, 0o600) == 0)
    for option in ["--key-file", "--key"] {
      let run = try program.start(Self.flash(Self.image, option, pipe, "--json"))
      // The pipe can be opened for writing only after the program has opened it for reading.
      let writer = try #require(Self.writer(of: pipe))
      run.send(SIGINT)
      let outcome = run.end()
      close(writer)
      #expect(outcome.reason == .uncaughtSignal && outcome.status == SIGINT)
      #expect(outcome.output.contains(#""code":"E-INTERRUPTED""#), "\(outcome.output)")
      #expect(outcome.output.contains(#""type":"result","exit":130"#), "\(outcome.output)")
    }
  }

  @Test func aKeyMayComeFromAPipe() throws {
    let program = try Program()
    let script =
      #""$0" flash "$1" -d sim:fast --allow-downgrade --force --key-file <(printf '%032d' 7)"#
    let outcome = try Program.runTool(
      ["bash", "-c", script, Program.path(), Self.image], environment: program.environment)
    #expect(outcome.status == 0, "\(outcome.errors)")
  }

  @Test func anEmptyPipeHasATimeLimit() throws {
    let program = try Program()
    let pipe = program.home.path + "/pipe"
    try #require(mkfifo(pipe, 0o600) == 0)
    let file = InputFile(path: pipe, limit: 10, patience: .zero)
    #expect(throws: FileFault.silent(path: pipe, waited: .zero)) { try file.read() }
  }

  @Test func aFileAboveTheLimitIsRefused() throws {
    let program = try Program()
    let path = program.home.path + "/file"
    try Data([1, 2, 3]).write(to: URL(fileURLWithPath: path))
    #expect(try InputFile(path: path, limit: 3).readComplete() == [1, 2, 3])
    #expect(throws: FileFault.tooLarge(path: path, limit: 2)) {
      try InputFile(path: path, limit: 2).readComplete()
    }
  }

  @Test(arguments: [4, 5, 7, 8, 11, 12, 13, 16])
  func tooFewDescriptorsAreAnError(_ limit: Int) throws {
    try expectShortage("ulimit -n \(limit)", saying: "more files")
  }

  @Test(arguments: [120_000, 140_000, 160_000])
  func tooLittleAddressSpaceIsAnError(_ limit: Int) throws {
    try expectShortage("ulimit -v \(limit)", saying: "MiB of address space")
  }

  private func expectShortage(_ limit: String, saying words: String) throws {
    let program = try Program()
    let script = limit + #" || exit 3; exec "$0" flash "$1" -d sim:fast --json"#
    let outcome = try Program.runTool(
      ["bash", "-c", script, Program.path(), Self.image], environment: program.environment)
    #expect(outcome.reason == .exit && outcome.status == 71, "\(outcome.status) \(outcome.errors)")
    #expect(outcome.output.contains(words), "\(outcome.output)")
    #expect(outcome.output.contains(#""type":"result","exit":71"#), "\(outcome.output)")
  }

  @Test func closedStreamsAreReserved() throws {
    let program = try Program()
    for closed in [">&-", "2>&-", "<&-", ">&- 2>&- <&-"] {
      let script = #""$0" flash "$1" -d sim:fast --allow-downgrade --force --json "# + closed
      let outcome = try Program.runTool(
        ["bash", "-c", script, Program.path(), Self.image], environment: program.environment)
      // A closed standard output is an error, because the result cannot be printed.
      let expected: Int32 = closed.hasPrefix(">&-") ? 73 : 0
      #expect(outcome.status == expected, "\(closed): \(outcome.status) \(outcome.errors)")
      #expect(!outcome.errors.contains("Invalid argument"), "\(outcome.errors)")
    }
  }

  @Test func aGroupWithoutACommandIsAnErrorInJSON() throws {
    let program = try Program()
    for (words, name) in [(["slots", "--json"], "slots"), (["--json"], "")] {
      let outcome = try program.run(words)
      #expect(outcome.status == 64)
      #expect(outcome.errors.isEmpty)
      #expect(outcome.output.contains(#""command":"\#(name)""#), "\(outcome.output)")
      #expect(outcome.output.contains(#""code":"E-USAGE""#))
      #expect(outcome.output.contains(#""type":"result","exit":64"#))
    }
  }

  @Test(arguments: [
    ("/proc/none", 78), ("/dev/null", 78), ("/" + String(repeating: "n", count: 300), 78),
  ])
  func anInvalidStatePathIsBadConfiguration(_ place: String, _ status: Int32) throws {
    let program = try Program()
    // A command that only reads does not create a missing folder.
    let readers = place == "/proc/none" ? [] : [["devices"]]
    for words in readers + [["info", "-d", "sim:fast"]] {
      let outcome = try program.run(words, environment: ["XDG_STATE_HOME": place])
      #expect(outcome.status == status, "\(outcome.errors)")
      #expect(outcome.code == "E-STATE")
    }
  }

  /// Opens the pipe as soon as it has a reader.
  private static func writer(of pipe: String) -> Int32? {
    for _ in 0..<1000 {
      let descriptor = open(pipe, O_WRONLY | O_NONBLOCK)
      if descriptor >= 0 { return descriptor }
      usleep(10_000)
    }
    return nil
  }
}
