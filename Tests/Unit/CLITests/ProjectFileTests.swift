import Foundation
import OtaflashConsole
import OtaflashDevices
import OtaflashProgram
import Testing

@testable import otaflash

/// Tests of the project file: its format, its precedence, and its location.
@Suite(.waitsForPrograms) struct ProjectFileTests {
  private static let text = """
    # the board on my desk
    device = "door-01"
    image = "build/app.bin"
    key-file = "keys/door.key"
    interval = "15ms"
    mtu = 247

    [profiles.sim]
    device = "sim:fast"

    [profiles.rig]
    device = "name:^rig$"
    image = "/srv/app.bin"
    """

  private static func file(_ text: String = text) throws(ProjectFile.Fault) -> ProjectFile {
    try ProjectFile(path: "/p/otaflash.toml", decoding: Array(text.utf8))
  }

  private static func values(_ profile: String?) throws -> [String: String] {
    let settings = try file().settings(profile: profile)
    return Dictionary(uniqueKeysWithValues: settings.map { ($0.key, $0.value) })
  }

  @Test func aProfileReplacesValues() throws {
    let base = [
      "device": "door-01", "image": "/p/build/app.bin", "key-file": "/p/keys/door.key",
      "interval": "15ms", "mtu": "247",
    ]
    #expect(try Self.values(nil) == base)
    #expect(try Self.values("sim") == base.merging(["device": "sim:fast"]) { $1 })
    #expect(
      try Self.values("rig")
        == base.merging(["device": "name:^rig$", "image": "/srv/app.bin"]) { $1 })
    #expect(throws: ProjectFile.Fault.self) { try Self.values("desk") }
  }

  @Test func eachValueHasItsLine() throws {
    let settings = try Self.file().settings(profile: "sim")
    #expect(settings.first { $0.key == "device" }?.line == 9)
    #expect(settings.first { $0.key == "device" }?.profile == "sim")
    #expect(settings.first { $0.key == "mtu" }?.line == 6)
  }

  @Test(arguments: [
    ("device = \"a\"\n  devise = \"b\"", 2, 3, "did you mean 'device'?"),
    ("mtu = 23\n[profile.x]\ndevice = \"a\"", 2, 1, "[profiles.NAME]"),
    ("mtu = [1]", 1, 1, "requires one value"), ("device = \"\"", 1, 1, "requires one value"),
    ("device = ", 1, 9, ""), ("device = \"a\"\ndevice = \"b\"", 2, 1, ""),
    ("key = 1979-05-27", 1, 1, "requires one value"),
  ])
  func anErrorHasItsPosition(_ text: String, _ line: Int, _ column: Int, _ words: String) {
    do throws(ProjectFile.Fault) {
      _ = try Self.file(text)
      Issue.record("accepted: \(text)")
    } catch {
      guard case .malformed(let passage) = error else {
        Issue.record("\(error)")
        return
      }
      #expect(passage.line == line && (line > 1 || words.isEmpty || passage.column == column))
      #expect(words.isEmpty || passage.words.contains(words), "\(passage.words)")
    }
  }

  /// Returns the options and the image that the file adds to a command line.
  private static func words(
    _ line: String, profile: String? = nil
  ) throws -> (options: [String], image: String?) {
    let words = line.split(separator: " ").map(String.init)
    let path = try OptionCatalog(dump: Otaflash._dumpHelp()).walk(words)
    let options = ProjectOptions(
      try file().settings(profile: profile), of: "/p/otaflash.toml", for: path, words: words)
    return (options.options, options.image)
  }

  @Test func onlySupportedOptionsThatAreMissingAreAdded() throws {
    let flash = try Self.words("flash")
    #expect(
      flash.options == [
        "--device=door-01", "--key-file=/p/keys/door.key", "--interval=15ms", "--mtu=247",
      ])
    #expect(flash.image == "/p/build/app.bin")
    #expect(try Self.words("flash a.bin").image == nil)
    #expect(try Self.words("flash --mtu 23 a.bin -d x").options.count == 2)
    #expect(try Self.words("flash --keep-link").options.contains("--interval=15ms") == false)
    // Options of the link apply only to devices on the air.
    #expect(try Self.words("flash -d sim:").options.contains("--interval=15ms") == false)
    #expect(try Self.words("flash", profile: "sim").options.contains("--interval=15ms") == false)
    #expect(try Self.words("reset").options == ["--device=door-01"])
  }

  // MARK: The program

  private static func start(
    _ words: [String], in folder: String, of program: Program,
    environment: [String: String] = [:]
  ) throws -> Program.Outcome {
    let line = ([try Program.path()] + words).map { "'\($0)'" }.joined(separator: " ")
    return try Program.runTool(
      ["bash", "-c", "cd '\(folder)' && \(line)"],
      environment: program.environment.merging(environment) { $1 })
  }

  @Test func theFileOfAFolderAboveIsUsedAndShown() throws {
    let program = try Program()
    _ = try program.file("otaflash.toml", Data(Self.text.utf8))
    let folder = program.home.path + "/src/deep"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    let shown = try Self.start(
      ["config", "show", "--profile", "sim"], in: folder, of: program,
      environment: ["OTAFLASH_MTU": "185"])
    #expect(shown.status == 0, "\(shown.errors)")
    #expect(shown.output.contains("otaflash.toml, line 9, profile sim"))
    let mtu = shown.output.split(separator: "\n").first { $0.hasPrefix("mtu ") }
    #expect(mtu?.contains("185 ") == true && mtu?.contains("OTAFLASH_MTU") == true)
    let info = try Self.start(
      ["info", "--profile", "sim", Program.root.path + "/firmware-samples/app-1.3.0.bin"],
      in: folder, of: program, environment: ["OTAFLASH_KEY_FILE": ""])
    #expect(info.status == 0, "\(info.errors)")
    #expect(info.output.contains("sim:fast"))
  }

  @Test func aMisspelledKeyIsRefusedWithItsLine() throws {
    let program = try Program()
    _ = try program.file("otaflash.toml", Data("devise = \"sim:\"\n".utf8))
    let outcome = try Self.start(["info"], in: program.home.path, of: program)
    #expect(outcome.status == 78 && outcome.code == "E-PROJECT", "\(outcome.errors)")
    #expect(outcome.errors.contains("line 1, column 1"))
    // Commands without a device do not read the file.
    let other = try Self.start(["explain", "E-PROJECT"], in: program.home.path, of: program)
    #expect(other.status == 0)
  }

  @Test func aValueThatAnOptionRefusesNamesTheFile() throws {
    let program = try Program()
    _ = try program.file("otaflash.toml", Data("device = \"a b\"\n".utf8))
    let outcome = try Self.start(["info"], in: program.home.path, of: program)
    #expect(outcome.status == 64 && outcome.errors.contains("otaflash.toml, line 1"))
  }
}
