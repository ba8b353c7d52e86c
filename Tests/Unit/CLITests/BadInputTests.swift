import Foundation
import Testing

/// Tests that invalid inputs cause a clear error with a code and an exit status, and neither a hang
/// nor a crash. Each test runs the built program.
@Suite(.waitsForPrograms) struct BadInputTests {
  /// A command line and its expected outcome.
  struct Case: CustomTestStringConvertible, Sendable {
    let name: String
    let words: [String]
    let status: Int32
    let code: String
    let saying: String

    init(_ name: String, _ words: [String], _ status: Int32, _ code: String, saying: String = "") {
      self.name = name
      self.words = words
      self.status = status
      self.code = code
      self.saying = saying
    }

    var testDescription: String { name }
  }

  private static let small = "firmware-samples/blink-1.0.0.bin"
  private static let large = "firmware-samples/app-1.3.0.bin"

  private static let fixtures = "Tests/Unit/FirmwareTests/Fixtures/"
  private static let signed = fixtures + "MCUboot/ed25519.bin"
  private static let key = fixtures + "MCUboot/ed25519.pub.pem"

  private static func flash(_ image: String, _ device: String, _ more: String...) -> [String] {
    ["flash", image, "-d", device, "--allow-downgrade"] + more
  }

  static let inputs = [
    Case("blank file", flash("/dev/zero", "sim:fast"), 65, "E-IMAGE", saying: "limit of"),
    Case("missing file", flash("nofile.bin", "sim:fast"), 66, "E-FILE"),
    Case("empty file", flash("/dev/null", "sim:fast"), 65, "E-IMAGE", saying: "no bytes"),
    Case(
      "wrong checksum line", flash("firmware-samples/damaged-1.4.0.hex", "sim:fast"), 65,
      "E-IMAGE", saying: "line 100 ends with checksum"),
    Case("directory", flash("firmware-samples", "sim:fast"), 66, "E-FILE"),
    Case(
      "changed image", flash(fixtures + "MCUboot/changed.bin", "sim:fast"), 65, "E-IMAGE",
      saying: "it was changed"),
    Case(
      "cut-off archive", flash(fixtures + "Hostile/lying-bomb.zip", "sim:fast"), 65, "E-IMAGE",
      saying: "'zeros.bin' in the ZIP archive is damaged"),
    Case(
      "several images", flash(fixtures + "DeviceManager/two-images.zip", "sim:fast"), 5,
      "E-IMAGE-NOT-TAKEN"),
    Case(
      "init packet", flash(fixtures + "Nordic/app-signed.zip", "sim:fast"), 5, "E-IMAGE-NOT-TAKEN"),
    Case(
      "not signed", flash(fixtures + "MCUboot/unsigned.bin", "sim:fast", "--key", key), 65,
      "E-SIGNATURE", saying: "it is not signed"),
    Case(
      "signed by another",
      flash(signed, "sim:fast", "--key", fixtures + "MCUboot/rsa-2048.pub.pem"), 77,
      "E-OTHER-SIGNER", saying: "it is signed by the key with hash"),
    Case("no signature possible", flash(small, "sim:fast", "--key", key), 65, "E-SIGNATURE"),
    Case("missing public key", flash(signed, "sim:fast", "--key", "nofile"), 66, "E-FILE"),
    Case("no public key", flash(signed, "sim:fast", "--key", small), 78, "E-KEY-FILE"),
    Case("too large", flash(large, "sim:fast?slot=64K"), 5, "E-DOES-NOT-FIT"),
    Case(
      "wrong board", flash("firmware-samples/other-board-2.0.0.bin", "sim:fast"), 5,
      "E-WRONG-HARDWARE"),
    Case("downgrade", ["flash", small, "-d", "sim:fast"], 5, "E-DOWNGRADE"),
    Case("no such profile", flash(small, "sim:nosuch"), 64, "E-USAGE"),
    Case("no device at all", flash(small, "door-01"), 64, "E-USAGE"),
    Case(
      "unknown device", flash(small, "unix:\(Program.homePlaceholder)/none"), 69,
      "E-DEVICE-NOT-FOUND"),
    Case("no key", flash(small, "sim:fast?key=00112233"), 77, "E-AUTHORIZATION-REQUIRED"),
    Case(
      "missing key file", flash(small, "sim:fast?key=00112233", "--key-file", "nofile"), 66,
      "E-FILE"),
  ]

  static let devices = [
    Case(
      "never answers", flash(small, "sim:silent", "--time-limit", "2s"), 74, "E-TIME-LIMIT"),
    Case("nonsense", flash(small, "sim:nonsense"), 76, "E-PROTOCOL-VIOLATION"),
    Case("repeats an offset indefinitely", flash(large, "sim:repeat-offset"), 76, "E-NO-PROGRESS"),
    Case("requests more than there is", flash(small, "sim:beyond-end"), 76, "E-PROTOCOL-VIOLATION"),
    Case("wrong CRC32 always", flash(large, "sim:wrong-crc-always"), 6, "E-BLOCK-KEEPS-FAILING"),
    Case(
      "busy indefinitely", flash(large, "sim:busy-forever", "--time-limit", "6s"), 75,
      "E-TIME-LIMIT"),
    Case("reverts", flash(small, "sim:reverts?erase=0&write=0"), 6, "E-REVERTED"),
    Case(
      "old version", flash(small, "sim:comes-back-old?erase=0&write=0"), 6, "E-OLD-VERSION-RUNS"),
    Case(
      "third image", flash(small, "sim:other-image?erase=0&write=0"), 6, "E-DIFFERENT-IMAGE-RUNS"),
    Case("adapter pulled", flash(large, "sim:adapter-vanishes"), 69, "E-NO-ADAPTER"),
  ]

  @Test(arguments: inputs + devices)
  func badInputsHaveACodeAndAnExitStatus(_ given: Case) throws {
    let outcome = try Program().run(given.words)
    #expect(outcome.reason == .exit)
    #expect(outcome.status == given.status, "\(outcome.errors)")
    #expect(outcome.code == given.code, "\(outcome.errors)")
    #expect(
      given.saying.isEmpty || outcome.errors.contains(given.saying), "\(outcome.errors)")
    #expect(outcome.errors.contains("\n  help: "))
  }

  @Test(arguments: [1, 5, 20, 40])
  func anUpdateSurvivesADisconnectionAtAnyPDU(_ pdus: Int) throws {
    let outcome = try Program().run(
      Self.flash(Self.small, "sim:fast?drop=close&cut-at-pdu=\(pdus)"))
    #expect(outcome.status == 0, "\(outcome.errors)")
    #expect(outcome.output.contains("running 1.0.0, verified"))
  }

  @Test func aTruncatedFileNamesItsLastLine() throws {
    let program = try Program()
    let whole = try String(
      contentsOf: Program.root.appending(path: "firmware-samples/sensor-1.1.0.hex"),
      encoding: .utf8)
    let lines = whole.split(separator: "\n", omittingEmptySubsequences: false)
    let path = try program.file("cut.hex", lines.prefix(50).joined(separator: "\n").utf8)
    let outcome = try program.run(Self.flash(path, "sim:fast"))
    #expect(outcome.status == 65)
    #expect(outcome.code == "E-IMAGE")
    #expect(outcome.errors.contains("line 50 is the last line"), "\(outcome.errors)")
    #expect(outcome.errors.contains("help: sed -n 50p -- \(path)"), "\(outcome.errors)")
  }

  static let foreign: [(String, String)] = [
    ("version https://git-lfs.github.com/spec/v1\noid sha256:4d\nsize 9\n", "a git-lfs pointer"),
    ("<!DOCTYPE html><html></html>\n", "an HTML page"),
  ]

  @Test(arguments: foreign)
  func otherContentThanFirmwareRequiresForce(_ content: String, _ words: String) throws {
    let program = try Program()
    let path = try program.file("image.bin", content.utf8)
    let said = ["--image-version", "9.0.0", "--hardware", "0x0000A001"]
    let refused = try program.run(["flash", path, "-d", "sim:fast"] + said)
    #expect(refused.status == 65)
    #expect(refused.code == "E-IMAGE")
    #expect(refused.errors.contains("image.bin is \(words), not firmware"), "\(refused.errors)")
    #expect(!refused.errors.contains("--allow-unknown") && !refused.errors.contains("--force"))
    #expect(try program.run(["image", "verify", path] + said).status == 65)
    #expect(try program.run(["image", "info", path]).output.contains(words))
    let forced = try program.run(["flash", path, "-d", "sim:fast", "--force"] + said)
    #expect(forced.status == 0, "\(forced.errors)")
  }

  @Test func anUnknownVersionNamesItsOption() throws {
    let program = try Program()
    let path = try program.file("blinky.bin", [0, 0, 1, 0x20, 1, 4, 0, 0])
    let verify = try program.run(["image", "verify", path])
    #expect(verify.status == 65)
    #expect(verify.code == "E-VERSION-UNKNOWN")
    #expect(
      verify.errors.contains(" --image-version 1.0.0 --hardware 0x0000A001\n"), "\(verify.errors)")
    let flash = try program.run(["flash", path, "-d", "sim:fast"])
    #expect(flash.status == 5)
    #expect(flash.errors.contains("-d sim:fast --hardware 0x0000A001\n"), "\(flash.errors)")
    let unknown = try program.run(["flash", path, "-d", "sim:fast", "--allow-unknown", "--json"])
    #expect(unknown.status == 0)
    #expect(!unknown.output.contains("0.0.0"), "\(unknown.output)")
    let done = try program.run(["flash", path, "-d", "sim:fast", "--allow-unknown", "--force"])
    #expect(done.output.contains("running the image that was sent, verified"), "\(done.output)")
  }

  @Test func theErrorShowsHowToChooseARegion() throws {
    let program = try Program()
    let hex = """
      :020000040000FA
      :0410000001020304E2
      :0200000460009A
      :02000000AABB99
      :00000001FF

      """
    let path = try program.file("far.hex", hex.utf8)
    let far = try program.run(["image", "info", path])
    #expect(far.status == 65)
    #expect(far.errors.contains("2 regions that are far apart"), "\(far.errors)")
    #expect(
      far.errors.contains("image info \(path) --region 0x00001000..0x00001004"), "\(far.errors)")
    let chosen = try program.run(
      ["--json", "image", "info", path, "--region", "0x60000000..0x60000002"])
    #expect(chosen.status == 0)
    #expect(chosen.output.contains("\"size\":2"))
    #expect(chosen.output.contains("\"left_out\":[{\"address\":4096,\"end\":4100,\"data\":4}]"))
  }

  @Test func waitingForAFIFOIsAnnouncedAndCanBeStopped() throws {
    let program = try Program()
    let path = program.home.appending(path: "fifo").path
    #expect(mkfifo(path, 0o600) == 0)
    let waiting = try program.start(["image", "info", path])
    #expect(waiting.waitUntilItSays("waiting for \(path)"))
    waiting.send(SIGINT)
    let outcome = waiting.end()
    #expect(outcome.reason == .uncaughtSignal && outcome.status == SIGINT)
    #expect(!outcome.errors.contains("cannot be sent"), "\(outcome.errors)")
  }

  @Test func aClosedStandardInputIsReported() throws {
    let outcome = try Program.runTool([
      "sh", "-c", "exec \"$0\" image info - <&-", try Program.path(),
    ])
    #expect(outcome.status == 66)
    #expect(outcome.errors.contains("standard input cannot be read"), "\(outcome.errors)")
    #expect(outcome.errors.contains("The input is closed"), "\(outcome.errors)")
  }

  @Test func keysAreCheckedBeforeTheyAreUsed() throws {
    let program = try Program()
    func flash(_ keyFile: String) throws -> Program.Outcome {
      try program.run(
        Self.flash(Self.small, "sim:fast?key=000102030405060708090a0b0c0d0e0f")
          + ["--key-file", keyFile])
    }
    let right = Array("000102030405060708090a0b0c0d0e0f\n".utf8)
    let exposed = try flash(program.file("exposed", right, mode: 0o640))
    #expect(exposed.status == 77)
    #expect(exposed.code == "E-KEY-FILE-EXPOSED")
    let short = try flash(program.file("short", right.prefix(8)))
    #expect(short.status == 78)
    #expect(short.code == "E-KEY-FILE")
    let wrong = try flash(program.file("wrong", right.reversed()))
    #expect(wrong.status == 77)
    #expect(wrong.code == "E-WRONG-KEY")
    #expect(try flash(program.file("right", right)).status == 0)
  }

  @Test func aMissingDeviceOrBluetoothStackIsReported() throws {
    let outcome = try Program().run(
      Self.flash(Self.small, "C0:FF:EE:00:00:01", "--timeout", "1s"))
    #expect([69, 71, 77].contains(outcome.status), "\(outcome.errors)")
    #expect(outcome.code != nil)
  }

  // MARK: Paths that cannot be written

  @Test func anUnwritableJournalIsReportedOnceAndTheUpdateContinues() throws {
    let program = try Program()
    // A directory that is not empty is at the path of the journal.
    let journal = program.home.appending(path: "otaflash/journal/sim%3Afast.json")
    try FileManager.default.createDirectory(
      at: journal.appending(path: "in-the-way"), withIntermediateDirectories: true)
    let outcome = try program.run(
      Self.flash("firmware-samples/app-1.3.0.bin", "sim:fast", "--mode", "without-response"))
    #expect(outcome.status == 0, "\(outcome.errors)")
    let hints = outcome.errors.components(separatedBy: "the resume hint was not stored").count - 1
    #expect(hints == 1, "\(outcome.errors)")
  }

  /// Whether unshare(1) can mount a file system on this host.
  static let canMount = { () -> Bool in
    do {
      return try Program.runTool(["unshare", "-rm", "mount", "-t", "tmpfs", "none", "/mnt"]).status
        == 0
    } catch {
      return false
    }
  }()

  @Test(.enabled(if: canMount, "unshare(1) may not mount here"))
  func aFullDiskDoesNotStopAnUpdate() throws {
    let program = try Program()
    let state = program.home.path
    // The state directory is on a full disk of 64 KiB. The device is another process, whose files
    // are on another disk.
    let device = try program.start(["simulate", "--listen", state + "/d", "--profile", "fast"])
    try #require(SignalTests.waitForFile(state + "/d"))
    let script = """
      mkdir -p \(state)/small/otaflash/journal &&
      mount -t tmpfs -o size=64k none \(state)/small/otaflash &&
      mkdir \(state)/small/otaflash/journal &&
      { cat /dev/zero > \(state)/small/otaflash/ballast 2>/dev/null; } ;
      exec "$0" "$@"
      """
    let words = Self.flash(Self.large, "unix:\(state)/d", "--mode", "without-response")
    let outcome = try Program.runTool(
      ["unshare", "-rm", "sh", "-c", script, Program.path()] + words,
      environment: [
        "XDG_STATE_HOME": state + "/small", "XDG_RUNTIME_DIR": state, "LANG": "C.UTF-8",
      ])
    device.send(SIGTERM)
    _ = device.end()
    #expect(outcome.status == 0, "\(outcome.errors)")
    let hints = outcome.errors.components(separatedBy: "the resume hint was not stored").count - 1
    #expect(hints == 1, "\(outcome.errors)")
    #expect(outcome.errors.contains("the disk or the quota is full"), "\(outcome.errors)")
  }

  @Test func aResultThatCannotBeWrittenFails() throws {
    let program = try Program()
    let outcome = try Program.runTool(
      ["sh", "-c", "exec \"$0\" completion bash > /dev/full", Program.path()],
      environment: program.environment)
    #expect(outcome.status == 73)
    #expect(outcome.code == "E-OUTPUT")
  }

  @Test func anInvalidStateDirectoryIsBadConfiguration() throws {
    let outcome = try Program().run(
      Self.flash(Self.small, "sim:fast"), environment: ["XDG_STATE_HOME": "/dev/null"])
    #expect(outcome.status == 78, "\(outcome.errors)")
    #expect(outcome.code == "E-STATE")
  }

  @Test func aForeignFlashFileIsNeitherUsedNorRemoved() throws {
    let program = try Program()
    let file = try program.file("board.flash", Array(repeating: UInt8(0xFF), count: 4096))
    let words = ["simulate", "--listen", program.home.path + "/d", "--flash-file", file]
    let outcome = try program.run(words)
    #expect(outcome.status == 78, "\(outcome.errors)")
    #expect(outcome.code == "E-STATE")
    #expect(try program.run(words + ["--reset"]).status == 78)
    #expect(FileManager.default.contents(atPath: file)?.count == 4096)
    let nowhere = try program.run(
      [
        "simulate", "--listen", program.home.path + "/d", "--flash-file",
        program.home.path + "/none/f",
      ])
    #expect(nowhere.status == 78, "\(nowhere.errors)")
  }
}
