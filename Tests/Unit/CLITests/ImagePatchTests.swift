import Foundation
import Testing

@testable import OtaflashConsole
@testable import OtaflashProgram
@testable import otaflash

/// Tests of `image diff`, `image patch`, and prebuilt patches of `flash`.
@Suite(.waitsForPrograms) struct ImagePatchTests {
  private static let old = "firmware-samples/app-1.2.0.bin"
  private static let new = "firmware-samples/app-1.3.0.bin"

  private static func bytes(_ path: String) throws -> [UInt8] {
    try [UInt8](Data(contentsOf: URL(filePath: path, relativeTo: Program.root)))
  }

  /// Runs `image patch` with additional words; returns the created file and the outcome of the
  /// program.
  private static func patch(
    _ program: Program, _ words: String...
  ) throws -> (path: String, outcome: Program.Outcome) {
    let path = program.home.path + "/app.patch"
    return (path, try program.run(["image", "patch", old, new, "-o", path] + words))
  }

  private static func checkStream(_ outcome: Program.Outcome) throws {
    try Program.checkEvents(of: outcome)
  }

  @Test(arguments: [
    ([], "crle"), (["--codec", "crle"], "crle"), (["--codec", "none"], "not compressed"),
    (["--codec", "heatshrink", "--window", "8", "--lookahead", "7"], "heatshrink 8,7"),
  ])
  func aPatchIsWrittenAndReported(_ words: [String], _ codec: String) throws {
    let program = try Program()
    let path = program.home.path + "/app.patch"
    let outcome = try program.run(["image", "patch", Self.old, Self.new, "-o", path] + words)
    #expect(outcome.status == 0, "\(outcome.errors)")
    #expect(outcome.output.contains("% of app-1.3.0.bin  \(codec)\n"), "\(outcome.output)")
    let info = try program.run(["image", "info", path])
    #expect(info.status == 0)
    for row in [
      "holds +a detools patch: not firmware", "patch +sequential, \(codec)", "makes +262,144 B",
    ] {
      #expect(info.output.firstMatch(of: try Regex("(?m)^" + row)) != nil, "\(info.output)")
    }
    #expect(try names(in: program.home).filter { $0.contains(".new") }.isEmpty)
  }

  /// A patch between images in HEX files does not apply to these files.
  @Test func theImageInAFileWithAddressesIsNamed() throws {
    let program = try Program()
    let path = program.home.path + "/sensor.patch"
    let outcome = try program.run(
      ["image", "patch", "firmware-samples/sensor-1.1.0.hex", Self.new, "-o", path])
    #expect(outcome.status == 0, "\(outcome.errors)")
    let note = "of the image in sensor-1.1.0.hex, not for the Intel HEX file itself"
    #expect(outcome.errors.contains(note), "\(outcome.errors)")
    #expect(!outcome.errors.contains("image in app-1.3.0.bin"))
  }

  private func names(in folder: URL) throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: folder.path)
  }

  @Test func streamsObeyTheSchema() throws {
    let program = try Program()
    let (path, made) = try Self.patch(program, "--json")
    try Self.checkStream(made)
    try Self.checkStream(try program.run(["image", "info", path, "--json"]))
    let esp =
      [0x10, 0xDE, 0xCD, 0xFC] + [UInt8](repeating: 7, count: 60) + (try Self.bytes(path))
    for file in [esp, Array(esp.dropLast())] {
      let path = try program.file("esp.bin", file)
      try Self.checkStream(try program.run(["image", "info", path, "--json"]))
    }
    let diff = try program.run(["image", "diff", Self.old, Self.new, "--rate", "20K", "--json"])
    try Self.checkStream(diff)
    #expect(diff.output.components(separatedBy: #""type":"prediction","#).count == 3)
    #expect(diff.output.contains(#""content":"difference","size":"#))
  }

  @Test func sizesAndTimesAreReported() throws {
    let diff = try Program().run(["image", "diff", Self.old, Self.new])
    #expect(diff.status == 0, "\(diff.errors)")
    for row in [
      "as it is +262,144 B +100.0%", "compressed +heatshrink 8,[0-9]+ +[0-9,]+ B",
      "patch +not compressed", "patch +crle +[0-9,]+ B +[0-9.]+%", "patch +heatshrink 8,",
      "patch +heatshrink 10,", "patch +heatshrink 11,",
      "link +flash +as it is +sent +bytes +parts +takes +gain +limit",
      "0.5 kB/s +erased +[0-9.]+ s +patch, (crle|format 2)",
      "100.0 kB/s +erased ahead +[0-9.]+ s +patch, .* flash$",
    ] {
      #expect(diff.output.firstMatch(of: try Regex("(?m)^" + row)) != nil, "\(row)\n\(diff.output)")
    }
    let other = try Program().run([
      "image", "diff", Self.old, Self.new, "--rate", "1M", "--page", "4096", "--erase-time",
      "0.001ms", "--write-time", "1ms", "--window", "9",
    ])
    #expect(other.output.contains("heatshrink 9,"), "\(other.output)")
  }

  /// For random bytes with a few zeros, the compressed image is only slightly shorter, so it is not
  /// sent.
  @Test func onlyDeliveriesOfFlashArePredicted() throws {
    let program = try Program()
    var state: UInt64 = 9
    let old = (0..<20_000).map { index -> UInt8 in
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return UInt8(truncatingIfNeeded: state >> 33)
    }
    let new = old.reversed().enumerated().map { $0 < 1_200 ? 0 : $1 }
    let diff = try program.run([
      "image", "diff", try program.file("old.bin", old), try program.file("new.bin", new),
    ])
    #expect(diff.output.contains("compressed  crle"), "\(diff.output)")
    #expect(!diff.output.contains("compressed, "), "\(diff.output)")
    let rows = diff.output.split(separator: "\n").filter { $0.contains("kB/s") }
    #expect(!rows.isEmpty && rows.allSatisfy { $0.contains("as it is  20,000 B") }, "\(rows)")
  }

  @Test func onlyPatchesAreOverwritten() throws {
    let program = try Program()
    let image = try program.file("old.bin", try Self.bytes(Self.old))
    let letter = try program.file("letter", Array("dear".utf8))
    for (output, words) in [(image, "this run reads it"), (letter, "not a patch file")] {
      let outcome = try program.run(["image", "patch", image, Self.new, "-o", output])
      #expect(outcome.status == 73 && outcome.code == "E-OUTPUT", "\(outcome.errors)")
      #expect(outcome.errors.contains(words), "\(outcome.errors)")
      #expect(outcome.errors.contains(" -o \(output).new.patch"), "\(outcome.errors)")
    }
    #expect(try Self.bytes(letter) == Array("dear".utf8))
    let (path, first) = try Self.patch(program)
    #expect(first.status == 0)
    let (_, second) = try Self.patch(program, "--codec", "heatshrink")
    #expect(second.status == 0, "\(second.errors)")
    let empty = try program.file("empty", [])
    #expect(try program.run(["image", "patch", image, Self.new, "-o", empty]).status == 0)
    #expect(try Self.bytes(empty).count < (try Self.bytes(path)).count)
  }

  /// A limit on the size of files simulates a full disk; its signal is ignored.
  @Test func aFullDiskKeepsThePreviousFile() throws {
    let program = try Program()
    let folder = program.home.path + "/folder"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
    let script = #"trap "" XFSZ; ulimit -f 4; exec "$@""#
    for before in [nil, [UInt8]([0, 1, 0, 0, 1, 7, 0])] {
      let path = folder + "/app.patch"
      if let before { try Data(before).write(to: URL(filePath: path)) }
      let outcome = try Program.runTool(
        [
          "bash", "-c", script, "bash", try Program.path(), "image", "patch", Self.old, Self.new,
          "-o", path, "-q",
        ], environment: program.environment)
      #expect(outcome.status == 73 && outcome.code == "E-OUTPUT", "\(outcome.errors)")
      #expect(
        try names(in: URL(filePath: folder)) == (before == nil ? [] : ["app.patch"]))
      if let before { #expect(try Self.bytes(path) == before) }
    }
  }

  @Test func unsuitableImagesAreRefused() throws {
    let program = try Program()
    let (patch, _) = try Self.patch(program)
    let missing = program.home.path + "/missing/app.patch"
    for (words, status, code) in [
      ([patch, Self.new], Int32(65), "E-IMAGE"), ([Self.old, patch], 65, "E-IMAGE"),
      (["nofile", Self.new], 66, "E-FILE"),
      ([Self.old, "Tests/Unit/FirmwareTests/Fixtures/Nordic/everything.zip"], 65, "E-IMAGE"),
    ] {
      for command in [["diff"], ["patch", "-o", program.home.path + "/x.patch"]] {
        let outcome = try program.run(["image"] + command + words)
        #expect(outcome.status == status && outcome.code == code, "\(words): \(outcome.errors)")
      }
    }
    #expect(try !names(in: program.home).contains("x.patch"))
    let nowhere = try program.run(["image", "patch", Self.old, Self.new, "-o", missing])
    #expect(nowhere.status == 73, "\(nowhere.errors)")
  }

  /// The command has the image and the patch. The patch only determines the bytes that are sent.
  @Test func aPrebuiltPatchIsSent() throws {
    let program = try Program()
    let (patch, _) = try Self.patch(program)
    let size = try Self.bytes(patch).count
    #expect(try program.run(["flash", Self.old, "-d", "sim:fast"]).status == 0)
    let flash = ["flash", Self.new, "-d", "sim:fast", "--patch", patch]
    let sent = try program.run(flash + ["--delta", "require"])
    #expect(sent.status == 0, "\(sent.errors)")
    #expect(
      sent.errors.contains("sending \(Text.grouped(size + 16)) B for 262,144, a patch against"))
    #expect(sent.output.contains("running 1.3.0, verified"))
  }

  @Test func anInvalidPatchIsReportedBeforeTheConnection() throws {
    let program = try Program()
    let (patch, _) = try Self.patch(program)
    let bytes = try Self.bytes(patch)
    let base = try program.file("other.bin", try Self.bytes(Self.new).reversed())
    for (file, words, reason) in [
      (try program.file("empty", []), [], "it is empty"),
      (try program.file("short", bytes.dropLast(5)), [], "it is truncated"),
      (Self.old, [], "it is not a complete patch"),
      (patch, ["--base", base], "applied to the base"),
    ] {
      let outcome = try program.run(
        ["flash", Self.new, "-d", "unix:" + program.home.path + "/none", "--patch", file] + words)
      #expect(outcome.status == 65 && outcome.code == "E-IMAGE", "\(outcome.errors)")
      #expect(outcome.errors.contains(reason), "\(outcome.errors)")
    }
    let missing = try program.run(["flash", Self.new, "-d", "sim:fast", "--patch", "nofile"])
    #expect(missing.status == 66 && missing.code == "E-FILE", "\(missing.errors)")
    let never = try program.run([
      "flash", Self.new, "-d", "sim:fast", "--patch", patch, "--delta", "never",
    ])
    #expect(never.status == 64, "\(never.errors)")
  }

  /// The refusal has exit status 5, because nothing was written. The device does not run the base
  /// of the patch.
  @Test func aRequiredPatchForAnotherBaseIsRefused() throws {
    let program = try Program()
    let base = try program.file("other.bin", try Self.bytes(Self.new).reversed())
    let patch = program.home.path + "/app.patch"
    let made = try program.run(["image", "patch", base, Self.new, "-o", patch])
    #expect(made.status == 0, "\(made.errors)")
    let flash = ["flash", Self.new, "-d", "sim:fast", "--patch", patch, "--base", base]
    let refused = try program.run(flash + ["--delta", "require"])
    #expect(refused.status == 5 && refused.code == "E-NO-PATCH", "\(refused.errors)")
    #expect(refused.errors.contains(" is not the running image ("), "\(refused.errors)")
    let sent = try program.run(flash)
    #expect(sent.status == 0 && sent.output.contains("verified"), "\(sent.errors)")
  }

  @Test func anInvalidBaseIsRefusedBeforeTheConnection() throws {
    let program = try Program()
    let (patch, _) = try Self.patch(program)
    let empty = try program.file("empty.bin", [])
    for (base, status, code, words) in [
      (patch, Int32(65), "E-IMAGE", "is a detools patch, not firmware"),
      (empty, 65, "E-IMAGE", "the image has no bytes"),
      (program.home.path + "/none.bin", 66, "E-FILE", "there is no file"),
    ] {
      let outcome = try program.run(["flash", Self.new, "-d", "sim:fast", "--base", base])
      #expect(outcome.status == status && outcome.code == code, "\(outcome.errors)")
      #expect(outcome.errors.contains(words) && !outcome.errors.contains("connect"))
    }
    for words in [["info", empty], ["diff", empty, Self.new], ["diff", Self.old, empty]] {
      let outcome = try program.run(["image"] + words)
      #expect(outcome.status == 65 && outcome.code == "E-IMAGE", "\(outcome.errors)")
    }
  }

  /// Either the image or nothing is sent. Both cases report the given base and the running image.
  @Test(arguments: ["auto", "require"])
  func aBaseThatDoesNotRunIsReported(_ policy: String) throws {
    let program = try Program()
    let outcome = try program.run([
      "flash", Self.new, "-d", "sim:fast", "--base", Self.old, "--delta", policy,
    ])
    let message = #/app-1\.2\.0\.bin \(262,144 B, CRC32 f49b0379\) is not the running image \(/#
    #expect(outcome.errors.contains(message), "\(outcome.errors)")
    #expect(outcome.errors.contains(" is not stored on this host"))
    #expect(outcome.status == (policy == "auto" ? 0 : 5), "\(outcome.errors)")
    #expect(outcome.code == (policy == "auto" ? nil : "E-NO-PATCH"))
  }

  @Test func aPatchIsNotFlashed() throws {
    let program = try Program()
    let (patch, _) = try Self.patch(program)
    let esp = try program.file(
      "esp.bin",
      [0x10, 0xDE, 0xCD, 0xFC] + [UInt8](repeating: 7, count: 60) + (try Self.bytes(patch)))
    for (path, name) in [
      (patch, "a detools patch"), (esp, "an ESP-IDF delta update (esp_delta_ota)"),
    ] {
      let outcome = try program.run(["flash", path, "-d", "sim:fast"])
      #expect(outcome.status == 65 && outcome.code == "E-IMAGE", "\(outcome.errors)")
      #expect(outcome.errors.contains("is \(name), not firmware"), "\(outcome.errors)")
      #expect(outcome.errors.contains("with --base"), "\(outcome.errors)")
      #expect(outcome.errors.contains("image info \(path)"), "\(outcome.errors)")
      #expect(try program.run(["image", "verify", path]).status == 65)
    }
  }

  /// The device has read its running image before it answers the announcement of a patch.
  @Test(arguments: [("damaged", "base-unreadable"), ("spoilt", "refused")])
  func aDamagedBaseIsReported(_ base: String, _ reason: String) throws {
    let program = try Program()
    let device = "sim:fast?base=\(base)"
    #expect(try program.run(["flash", Self.new, "-d", device]).status == 0)
    let words = ["flash", Self.old, "-d", device, "--allow-downgrade"]
    let outcome = try program.run(words + ["--json"])
    #expect(outcome.status == 0, "\(outcome.errors)")
    #expect(outcome.output.contains(#""event":"patch-given-up","reason":"\#(reason)""#))
    try Self.checkStream(outcome)
    let again = try program.run(["flash", Self.new, "-d", device, "--delta", "require"])
    let why = try #require(again.errors.split(separator: "\n").first { $0.hasPrefix("error") })
    let clause =
      base == "damaged"
      ? "the running image cannot be read, or is damaged"
      : "the device refused the patch"
    #expect(why.contains(clause), "\(again.errors)")
    #expect(again.status == (base == "damaged" ? 5 : 6), "\(again.errors)")
  }
}
