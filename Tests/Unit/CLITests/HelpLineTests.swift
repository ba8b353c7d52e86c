import Foundation
import Testing

@testable import OtaflashConsole
@testable import OtaflashDevices
@testable import OtaflashProgram
@testable import otaflash

@Suite struct FaultSampleTests {
  /// A fault without a sample would have a help line that is not tested.
  @Test func everyKindOfFaultHasASample() {
    func covers(_ places: [Int], _ count: Int, _ name: String) {
      #expect(Set(places) == Set(0..<count), "\(name)")
    }
    typealias Samples = FaultSamples
    covers(Samples.commands.map(Samples.place), 38, "CommandFault")
    covers(Samples.fleets.map(Samples.place), 20, "FleetFault")
    covers(Samples.updates.map(Samples.place), 33, "UpdateFault")
    covers(Samples.remedies.map(Samples.place), 47, "Remedy")
    covers(Samples.procedures.map(Samples.place), 13, "GATTFault")
    covers(Samples.securities.map(Samples.place), 9, "SecurityFault")
    covers(Samples.connects.map(Samples.place), 7, "ConnectFault")
    covers(Samples.surveys.map(Samples.place), 10, "MgmtFault")
    covers(Samples.states.map(Samples.place), 11, "StateFault")
    covers(Samples.files.map(Samples.place), 6, "FileFault")
    covers(Samples.proofs.map(Samples.place), 9, "ProofFault")
    covers(Samples.imageFiles.map(Samples.place), 6, "ImageFileFault")
    covers(Samples.firmware.map(Samples.place), 23, "FirmwareFault")
  }
}

/// Every command in an error, after `help:` or in backticks, must be accepted by a shell and by the
/// parser. The test combines each fault with each command line in `contexts`.
@Suite(.waitsForPrograms) struct HelpLineTests {
  static let contexts: [[String]] = [
    ["flash", "app.bin", "-d", "unix:/run/door"], ["flash", "-", "-d", "sim:", "--capture=x"],
    [
      "--json", "flash", "it's a.bin", "--device=sim:?loss=1%", "--restart", "--capture", "x y",
      "--adapter", "hci1",
    ],
    ["flash", "a\u{1B}[31m.bin", "-d", "name:^do*r\u{9B}", "--adapter=hci1"],
    ["bench", "-d", "sim:", "--plot", "p.svg"], ["bench", "-d", "C0:FF:EE:00:00:01"],
    ["bench", "-d", "sim:", "--image", "a.bin", "b.bin"],
    ["info", "-d", "C0:FF:EE:00:00:01/public"], ["info", "app.bin", "-d", "name:door"],
    ["image", "info", "app.bin"], ["image", "verify", "app.bin"], ["image", "verify", "-"],
    ["image", "diff", "a.bin", "it's b.bin"], ["image", "patch", "a.bin", "b.bin", "-o", "a b"],
    ["image", "patch", "a.bin", "-", "--output=a b"],
    ["slots", "list", "-d", "sim:smp"], ["slots", "test", "-d", "sim:smp", "--hash", "abcd"],
    ["slots", "confirm", "-d", "sim:smp"], ["slots", "erase", "-d", "sim:smp", "--slot", "1"],
    ["reset", "-d", "sim:smp"], ["pair", "-d", "name:door"], ["unpair", "-d", "C0:FF:EE:00:00:01"],
    ["simulate", "--listen", "/tmp/s"], ["simulate", "--reset"],
    ["simulate", "--listen", "s", "--flash-file", "f", "--profile", "smp"],
    ["flash", "app.bin"], ["scan", "--watch", "app.bin"],
    ["flash", "app.bin", "-d", "last"], ["slots", "list", "-d", "last"],
    ["scan", "--name", "x"], ["devices"], ["devices", "name", "sim:", "b"], ["doctor"],
    ["self-test"],
    ["completion", "bash"],
    ["fleet", "run", "a b.yaml"], ["fleet", "plan", "c.yaml", "--live"], ["fleet", "status", "7f"],
    ["fleet", "report", "--html", "r.html"], ["fleet", "retry", "7f", "door"], ["fleet", "list"],
  ]

  /// Other programs with which a command line may start.
  static let tools: Set = [
    "ls", "cat", "head", "sed", "od", "wc", "unzip", "chmod", "sudo", "rfkill", "swift",
  ]

  @Test func everyHelpLineIsAValidCommand() throws {
    var origins: [String: String] = [:]
    for words in Self.contexts {
      guard case .command(let command, _) = CommandLineReading(words, environment: [:]) else {
        Issue.record("\(words) is not a command line")
        continue
      }
      let context = FaultContext(
        program: "otaflash", arguments: words, subject: command.subject)
      for fault in FaultSamples.commands {
        let report = FaultReport(fault, in: context)
        for line in [report.help] + Self.quoted(in: report.why) {
          #expect(VisibleText.escaped(line) == line, "\(fault) in \(words)")
          origins[line] = "\(fault) in \(words)"
        }
      }
    }
    try check(origins)
  }

  /// The check must find each invalid command.
  @Test func anInvalidHelpLineIsFound() throws {
    for line in [
      "otaflash image verify a.bin --allow-unknown", "otaflash slots", "otaflsh devices",
    ] {
      withKnownIssue { try check([line: "a test"]) }
    }
  }

  /// Returns the texts in backticks that start with `otaflash`.
  private static func quoted(in text: String) -> [String] {
    text.split(separator: "`", omittingEmptySubsequences: false).enumerated()
      .filter { $0.offset % 2 == 1 && $0.element.hasPrefix("otaflash ") }
      .map { String($0.element) }
  }

  private func check(_ origins: [String: String]) throws {
    let lines = origins.keys.sorted()
    for (line, commands) in zip(lines, try Self.commands(of: lines)) {
      let origin = origins[line] ?? ""
      #expect(!commands.isEmpty, "'\(line)' is not a command (\(origin))")
      for command in commands {
        guard command.first == "otaflash" else {
          #expect(Self.tools.contains(command.first ?? ""), "'\(line)' (\(origin))")
          continue
        }
        switch CommandLineReading(Array(command.dropFirst()), environment: [:]) {
        case .command, .text: continue
        case .groupAlone, .malformed, .unusableProject:
          Issue.record("'\(line)' is not understood (\(origin))")
        }
      }
    }
  }

  /// Returns the words of every command that a shell would run for each line. The shell finds no
  /// program, and prints the commands instead.
  static func commands(of lines: [String]) throws -> [[[String]]] {
    let script = #"""
      PATH="$1/none"
      command_not_found_handle() { printf '%s\0' "$@" $'\1' >&3; }
      exec 3>&1 >/dev/null
      while IFS= read -r -d '' line; do eval "$line"; printf '%s\0' $'\2' >&3; done <"$1"
      """#
    let program = try Program()
    let file = try program.file("lines", lines.flatMap { Array($0.utf8) + [0] })
    let outcome = try Program.runTool(["bash", "-c", script, "bash", file])
    try #require(outcome.errors.isEmpty, "\(outcome.errors)")
    var all: [[[String]]] = []
    var commands: [[String]] = []
    var words: [String] = []
    for word in outcome.output.split(separator: "\0", omittingEmptySubsequences: false) {
      switch word {
      case "\u{1}":
        commands.append(words)
        words = []
      case "\u{2}":
        all.append(commands)
        commands = []
      default: words.append(String(word))
      }
    }
    try #require(all.count == lines.count)
    return all
  }
}
