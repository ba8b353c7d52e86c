import ArgumentParser
import Testing

@testable import OtaflashConsole
@testable import OtaflashDevices
@testable import OtaflashProgram
@testable import otaflash

@Suite struct GrammarTests {
  @Test(arguments: [
    (["--json", "devices"], true), (["devices", "--json"], true), (["devices"], false),
  ])
  func globalOptionsAreAcceptedBeforeAndAfterTheCommand(_ words: [String], _ json: Bool) throws {
    guard case .command(let command, "devices") = CommandLineReading(words, environment: [:]) else {
      Issue.record("not read as devices")
      return
    }
    #expect(command.global.json == json)
  }

  @Test func theEnvironmentAddsOptions() throws {
    let environment = [
      "OTAFLASH_MTU": "247", "OTAFLASH_DEVICE": "unix:/a", "OTAFLASH_DRY_RUN": "1",
      "OTAFLASH_FORCE": "no",
    ]
    let reading = CommandLineReading(
      ["flash", "app.bin", "-d", "unix:/b"], environment: environment)
    guard case .command(let command, "flash") = reading, let flash = command as? Flash else {
      Issue.record("not read as flash: \(reading)")
      return
    }
    #expect(flash.mtu == 247)
    #expect(flash.target.device?.text == "unix:/b")
    #expect(flash.dryRun)
    #expect(!flash.force)
  }

  /// Valid command lines, one for each tested command.
  static let lines: [[String]] = [
    ["scan"], ["info", "-d", "sim:"], ["flash", "a", "-d", "sim:"], ["image", "info", "a"],
    ["image", "verify", "a"], ["image", "diff", "a", "b"], ["image", "patch", "a", "b", "-o", "c"],
    ["simulate", "--listen", "a"], ["devices"], ["doctor"],
    ["completion", "bash"],
  ]

  @Test(arguments: lines)
  func everyLongOptionIsReadFromItsVariable(_ line: [String]) throws {
    let path = try OptionCatalog(dump: Otaflash._dumpHelp()).walk(line)
    let options = (path.last.arguments ?? []).filter {
      $0.longName != nil && !["help", "version"].contains($0.longName)
    }
    #expect(options.count >= 9, "the global options at least")
    for option in options {
      let name = try #require(option.longName)
      let variable = "OTAFLASH_" + name.uppercased().replacing("-", with: "_")
      let words = EnvironmentOptions.words(
        for: path, arguments: [], environment: [variable: "1", "OTAFLASH_NOSUCH": "1"])
      #expect(words == [option.takesValue ? "--\(name)=1" : "--\(name)"])
      let given = [option.takesValue ? "--\(name)=2" : "--\(name)"]
      #expect(
        EnvironmentOptions.words(for: path, arguments: given, environment: [variable: "1"]) == [])
    }
  }

  @Test func anOptionOfSeveralValuesHasColonsInItsVariable() throws {
    let words = EnvironmentOptions.words(
      for: try OptionCatalog(dump: Otaflash._dumpHelp()).walk(["bench", "-d", "sim:"]),
      arguments: [], environment: ["OTAFLASH_IMAGE": "a.bin:b c.bin"])
    #expect(words == ["--image", "a.bin", "b c.bin"])
    guard
      case .command(let command, "bench") = CommandLineReading(
        ["bench", "-d", "sim:"], environment: ["OTAFLASH_IMAGE": "a.bin:b c.bin"])
    else {
      Issue.record("not read")
      return
    }
    #expect((command as? Bench)?.images.image == ["a.bin", "b c.bin"])
  }

  @Test(arguments: [
    ["--image", "a"], ["--image", "a", "b", "c"], ["--image", "-", "-"], ["--erase-time", "9ms"],
    ["--image", "a", "b", "--write-time", "9ms"],
  ])
  func aBenchmarkRequiresTwoImages(_ words: [String]) {
    guard case .malformed = CommandLineReading(["bench", "-d", "sim:"] + words, environment: [:])
    else {
      Issue.record("\(words) was read")
      return
    }
  }

  @Test(arguments: [
    ["image", "verify", "-h.bin"], ["image", "info", "-dash.bin"], ["help", "nosuch"],
    ["help", "image", "nosuch"], ["bench", "-d", "sim:", "--fail-below", "80%"],
  ])
  func mistakenRequestsForHelpAreRefused(_ words: [String]) {
    guard case .malformed = CommandLineReading(words, environment: [:]) else {
      Issue.record("\(words) was read")
      return
    }
  }

  @Test(arguments: [
    ["-h"], ["flash", "-vh"], ["flash", "--help"], ["help"], ["help", "image", "info"],
    ["--version"], ["image", "verify", "-h.bin", "-h"],
  ])
  func requestsForHelpAreFollowed(_ words: [String]) {
    guard case .text = CommandLineReading(words, environment: [:]) else {
      Issue.record("\(words) was read otherwise")
      return
    }
  }

  @Test func aVariableThatCannotBeReadIsNamed() {
    guard
      case .malformed(let message, "flash") = CommandLineReading(
        ["flash", "a", "-d", "sim:"], environment: ["OTAFLASH_MTU": "x", "OTAFLASH_MODE": ""])
    else {
      Issue.record("read without complaint")
      return
    }
    #expect(message == "The value 'x' is invalid for '--mtu <mtu>' (from OTAFLASH_MTU)")
  }

  @Test(arguments: ["100ms", "30s"])
  func theTransactionTimeoutCanOnlyBeShortened(_ text: String) {
    let words = ["info", "-d", "sim:", "--transaction-limit", text]
    guard case .command(let command, _) = CommandLineReading(words, environment: [:]) else {
      Issue.record("not read")
      return
    }
    #expect(command.global.transactionLimit == TimeSpan(text))
  }

  @Test func verbosityIsANumberInTheEnvironment() {
    let reading = CommandLineReading(["devices"], environment: ["OTAFLASH_VERBOSE": "3"])
    guard case .command(let command, _) = reading else {
      Issue.record("not read: \(reading)")
      return
    }
    #expect(command.global.verbose == 3)
  }

  static let transactionLimits = "--transaction-limit must be 100ms to 30s"

  @Test(arguments: [
    (["flsh"], "there is no command 'flsh'; did you mean 'flash'?"),
    (["image", "inof", "x"], "there is no command 'inof'; did you mean 'info'?"),
    (["xyzzy"], "there is no command 'xyzzy'"),
    (["flash", "a", "-d", "sim:", "--mtu", "9"], "--mtu 9 is out of range; specify 23 to 517"),
    (["image", "diff", "-", "-"], "only one of the two files can be standard input"),
    (
      ["image", "diff", "a", "b", "--rate", "6k"],
      "The value '6k' is invalid for '--rate <list>': "
        + "'6k' is not a number of bytes per second, 1 to 1G; write 6000 or 20K"
    ),
    (["image", "diff", "a", "b", "--page", "0"], "--page 0 is out of range; specify 256 to 1M"),
    (
      ["image", "patch", "a", "b", "-o", "c", "--window", "15"],
      "--window 15 is out of range; specify 4 to 14"
    ),
    (
      ["image", "patch", "a", "b", "-o", "c", "--window", "8", "--lookahead", "8"],
      "--lookahead 8 is out of range; specify 3 to 7"
    ),
    (["info", "-d", "sim:", "--transaction-limit", "99ms"], transactionLimits),
    (["info", "-d", "sim:", "--transaction-limit", "30001ms"], transactionLimits),
  ])
  func malformedLinesHaveAMessage(_ words: [String], _ expected: String) {
    guard case .malformed(let message, _) = CommandLineReading(words, environment: [:]) else {
      Issue.record("read without complaint")
      return
    }
    #expect(message == expected)
  }

  @Test func devicesAreParsed() throws {
    #expect(try DeviceSelector.parse("unix:/tmp/a").kind == .unix(path: "/tmp/a"))
    #expect(try DeviceSelector.parse("last").kind == .last)
    guard case .address(let address) = try DeviceSelector.parse("C0:FF:EE:00:00:01").kind else {
      Issue.record("no address")
      return
    }
    #expect(address.kind == .random)
    guard case .name(let pattern) = try DeviceSelector.parse("name:^door").kind else {
      Issue.record("no name")
      return
    }
    #expect(pattern.text == "^door")
    guard case .simulated(let profile) = try DeviceSelector.parse("sim:fast?seed=7").kind else {
      Issue.record("not simulated")
      return
    }
    #expect(profile.seed == 7)
  }

  @Test(arguments: [
    "", "C0:FF:EE", "C0:FF:EE:00:00:01/other", "name:", "name:(", "unix:", "sim:nosuch",
    "sim:?nosuch=1", "door 01", "-door", "door/1",
  ])
  func otherDevicesAreRefused(_ text: String) {
    #expect(throws: ValidationError.self) { try DeviceSelector.parse(text) }
  }

  @Test func unitsAreTyped() {
    #expect(TimeSpan("500ms")?.duration == .milliseconds(500))
    #expect(TimeSpan("1.5s")?.duration == .milliseconds(1500))
    #expect(TimeSpan("2m")?.duration == .seconds(120))
    for text in ["", "5", "s", "-1s", "0s", "1e3s", "8d", "169h", "inf s", "nans", "0.0000001ms"] {
      #expect(TimeSpan(text) == nil, "\(text)")
    }
    #expect(ByteCount("256K")?.bytes == 262_144)
    #expect(ByteCount("1M")?.bytes == 1_048_576)
    for text in ["", "K", "-1", "+1", "1k", "1.5K", "9999999999999999M"] {
      #expect(ByteCount(text) == nil, "\(text)")
    }
  }

  @Test func quotedWordsAreReadBackUnchanged() {
    #expect(
      ShellWords.join(["otaflash", "a b", "it's", "", "unix:/x"])
        == "otaflash 'a b' 'it'\\''s' '' unix:/x")
  }

  /// Bash, zsh and POSIX shells since 2024 read these words back, and the printed line shows their
  /// content.
  @Test func controlCharactersAreQuoted() throws {
    let word = "a\u{1B}[31m'b\\\u{9B}c\u{202E}\u{7F}é\n"
    let quoted = ShellWords.quote(word)
    #expect(quoted == #"$'a\033[31m\'b\\\302\233c\342\200\256\177é\012'"#)
    #expect(VisibleText.escaped(quoted) == quoted)
    let echoed = try Program.runTool(["bash", "-c", "printf %s \(quoted)"])
    #expect(echoed.output == word)
  }

  @Test(arguments: ["+23", "23 ", "0x17", "２３", "-1", "", "1e2"])
  func aCountHasOnlyDigits(_ text: String) {
    #expect(WholeNumber(argument: text) == nil)
    for words in [
      ["flash", "a", "-d", "sim:", "--mtu=\(text)"], ["bench", "-d", "sim:", "--repeat=\(text)"],
      ["bench", "-d", "sim:", "--mtu=\(text)"], ["slots", "erase", "-d", "sim:", "--slot=\(text)"],
      ["slots", "test", "-d", "sim:", "--image=\(text)"], ["devices", "--adapter=hci\(text)"],
    ] {
      guard case .malformed = CommandLineReading(words, environment: [:]) else {
        Issue.record("\(words) was read")
        continue
      }
    }
  }

  @Test(arguments: [([], ""), (["slots"], "slots"), (["image"], "image")])
  func aGroupWithoutACommandIsIncomplete(_ words: [String], _ name: String) {
    guard
      case .groupAlone(let group) = CommandLineReading(words + ["--json"], environment: [:])
    else {
      Issue.record("not read as a group")
      return
    }
    #expect(group.name == name)
    #expect(group.complaint.hasPrefix("a command is missing; the commands are "))
  }

  @Test func keysAreRawOrHexadecimal() {
    let raw = [UInt8](repeating: 0x7F, count: 16)
    #expect(KeyFile.key(from: raw) == raw)
    #expect(KeyFile.key(from: Array("000102030405060708090A0b0c0d0e0f\n".utf8)) == Array(0...15))
    #expect(KeyFile.key(from: Array("0001".utf8)) == nil)
    #expect(KeyFile.key(from: [UInt8](repeating: 0xFF, count: 65)) == nil)
  }
}
