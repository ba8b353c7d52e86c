import Foundation
import Testing

/// Tests of `otaflash fleet plan`, which run the program as a shell does.
@Suite(.waitsForPrograms) struct FleetPlanTests {
  private static let fixtures = "\(Program.root.path)/Tests/Unit/FirmwareTests/Fixtures/MCUboot"

  private let program: Program

  init() throws { program = try Program() }

  private func plan(_ text: String, _ words: String...) throws -> Program.Outcome {
    let file = try program.file("c.yaml", text.utf8)
    return try program.run(["fleet", "plan", file] + words)
  }

  @Test(arguments: [
    ("ed25519.bin", "ed25519", 0, ""), ("unsigned.bin", "ed25519", 65, "E-SIGNATURE"),
    ("ed25519.bin", "rsa-2048", 77, "E-OTHER-SIGNER"), ("ed25519.bin", "none", 66, "E-FILE"),
  ])
  func imagesMustBeSignedByTheKeyOfTheCampaign(
    image: String, key: String, status: Int32, code: String
  ) throws {
    let plan = try plan(
      """
      campaign: c
      image: \(Self.fixtures)/\(image)
      key: \(Self.fixtures)/\(key).pub.pem
      devices: ["sim:smp"]
      """)
    #expect(plan.status == status, "\(plan.errors)")
    #expect(status == 0 || plan.code == code, "\(plan.errors)")
  }

  @Test func aDeviceThatWouldBeSkippedIsShown() throws {
    let text = """
      campaign: c
      image: \(Program.root.path)/firmware-samples/app-1.3.0.bin
      devices: ["sim:?battery=20", "sim:?battery=90&seed=2", "sim:?version=1.0.0&seed=3"]
      requires: 1.2.0
      min-battery: 30%
      """
    let plan = try plan(text, "--live", "--json")
    #expect(plan.status == 0, "\(plan.errors)")
    #expect(plan.output.contains("its battery level is 20 %"), "\(plan.output)")
    #expect(plan.output.contains("it runs 1.0.0, but the campaign requires 1.2.0"))
    #expect(plan.output.components(separatedBy: #""prospect":"skipped""#).count == 3)
    try Program.checkEvents(of: plan)
  }

  @Test func errorsAreShownTogetherWithTheirLines() throws {
    let plan = try plan("campaign: c\nimagee: a.bin\ndevices: [x]\nparallel: 0\n")
    #expect(plan.status == 78 && plan.code == "E-CAMPAIGN")
    for words in [
      "c.yaml, line 2, column 1: a campaign has no key 'imagee'; did you mean 'image'?",
      "  2 | imagee: a.bin\n    | ^\n", "c.yaml, line 4, column 11: parallel is 0",
      "  4 | parallel: 0\n    |           ^\n", "  help: ",
    ] {
      #expect(plan.errors.contains(words), "\(plan.errors)")
    }
    let file = program.home.path + "/c.yaml"
    let events = try program.run(["--json", "fleet", "plan", file])
    #expect(events.output.contains(#""line":4,"column":11,"message":"parallel is 0"#))
    try Program.checkEvents(of: events)
  }

  /// The lines of a campaign that name a file, the exit status, and the line that the error shows.
  @Test(arguments: [
    ("image: nowhere.bin\ndevices: [\"sim:\"]", 66, "  2 | image: nowhere.bin"),
    ("image: IMAGE\ndevices-file: none.csv", 66, "  3 | devices-file: none.csv"),
    ("image: IMAGE\ndevices: [\"sim:\"]\nkey: none.pem", 66, "  4 | key: none.pem"),
    ("image: IMAGE\ndevices:\n- {id: \"sim:\", key-file: none.bin}", 66, "  4 | - {id"),
    ("image: fifo\ndevices: [\"sim:\"]", 66, "  2 | image: fifo"),
  ])
  func aFileThatCannotBeReadIsShownWhereItIsNamed(
    text: String, status: Int32, line: String
  ) throws {
    let image = "\(Program.root.path)/firmware-samples/app-1.3.0.bin"
    if text.contains("fifo") {
      _ = try Program.runTool(["mkfifo", program.home.path + "/fifo"])
    }
    let plan = try plan("campaign: c\n" + text.replacing("IMAGE", with: image) + "\n")
    #expect(plan.status == status && plan.code == "E-FILE", "\(plan.errors)")
    #expect(plan.errors.contains(line), "\(plan.errors)")
    #expect(!plan.errors.contains("the current directory"), "\(plan.errors)")
  }

  @Test(arguments: [
    ("[./notify, a]", "does not exist"), ("[no-such-program-xyz]", "is not in PATH"),
    ("./notify --quiet", "does not exist"), ("[./c.yaml]", "is not executable"),
    ("no-such-program-xyz", "is not in PATH"),
  ])
  func aHookWithoutItsProgramIsRefused(command: String, words: String) throws {
    let text = """
      campaign: c
      image: \(Program.root.path)/firmware-samples/app-1.3.0.bin
      devices: ["sim:"]
      hooks:
        time-limit: 5s
        before-device: \(command)
      """
    let plan = try plan(text)
    #expect(plan.status == 78 && plan.code == "E-CAMPAIGN", "\(plan.errors)")
    #expect(plan.errors.contains("line 6, column 18: the program of before-device \(words)"))
    let run = try program.run(["fleet", "run", program.home.path + "/c.yaml"])
    #expect(run.status == 78, "\(run.errors)")
  }

  private static let everything = """
    campaign: c
    image: \(Program.root.path)/firmware-samples/blink-1.0.0.bin
    devices: ["sim-fleet:3?speed=10"]
    window: {from: "00:00", to: "00:00", zone: Europe/Berlin}
    retries: {link: 7}
    parallel: 3
    hooks: {before-device: 'true | cat'}
    flash: {force: true, allow-downgrade: true}
    requires: 1.0.0
    min-battery: {percent: 30%, unknown: proceed}
    waves: [{devices: rest, stop: {failures: 2, then: pause}}]

    """

  @Test func aPlanShowsEveryOption() throws {
    let plan = try plan(Self.everything, "--json")
    #expect(plan.status == 0, "\(plan.errors)")
    try Program.checkEvents(of: plan)
    let text = try self.plan(Self.everything).output
    for words in [
      "Europe/Berlin", "7 attempts after lost links", "3 transfers per adapter",
      "/bin/sh -c 'true | cat'", "allow-downgrade, force", "1.0.0 or later",
      "30%, a device without a level: proceed", "pauses at 2 failed", "SHA-256 ",
    ] {
      #expect(text.contains(words), "\(words): \(text)")
    }
  }

  /// A run starts only if the campaign matches the reviewed plan.
  @Test func aRunThatDiffersFromTheReviewedPlanIsRefused() throws {
    let saved = program.home.path + "/plan.json"
    let first = try plan(Self.everything, "--save", saved)
    #expect(first.status == 0, "\(first.errors)")
    #expect(first.errors.contains("--plan \(saved)"), "\(first.errors)")
    let changed = Self.everything.replacing("parallel: 3", with: "parallel: 4")
      .replacing("sim-fleet:3", with: "sim-fleet:4")
    let file = try program.file("c.yaml", changed.utf8)
    let refused = try program.run(["fleet", "run", file, "--plan", saved])
    #expect(refused.status == 78 && refused.code == "E-CAMPAIGN", "\(refused.errors)")
    for words in ["parallel: 4 transfers per adapter (plan: 3", "1 device added: board-0004"] {
      #expect(refused.errors.contains(words), "\(refused.errors)")
    }
    #expect(
      try program.run(["fleet", "run", file, "--plan", file]).status == 78, "the file is not a plan"
    )
    #expect(try program.run(["fleet", "list"]).output.isEmpty)
    _ = try program.file("c.yaml", Self.everything.utf8)
    let run = try program.run(["fleet", "run", file, "--plan", saved])
    #expect(run.status == 0, "\(run.errors)")
    let next = try plan(changed.replacing("| cat", with: "| tee"))
    #expect(next.output.contains("1 device added: board-0004"), "\(next.output)")
    for words in ["parallel: 4 transfers per adapter (run: 3", "(run: /bin/sh -c 'true | cat')"] {
      #expect(next.output.contains(words), "\(next.output)")
    }
    let over = try program.run(["fleet", "plan", file, "--save", file])
    #expect(over.status == 73, "\(over.errors)")
  }
}
