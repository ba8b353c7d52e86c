import Foundation
import Testing

/// Tests of `fleet report --verify`, `--head` and `--sign`, on runs of two waves and on stores that
/// another program changed.
@Suite(.waitsForPrograms) struct FleetVerificationTests {
  private static let zeros = String(repeating: "0", count: 64)

  private let program: Program
  /// The names of two runs, in the order of their starts.
  private let runs: [String]
  /// The hashes that the second run reported, in order.
  private let heads: [String]

  init() throws {
    program = try Program()
    let file = try program.file(
      "c.yaml",
      """
      campaign: doors
      image: \(Program.root.path)/firmware-samples/blink-1.0.0.bin
      devices: ["sim:fast", "sim:fast?seed=2"]
      flash: {mode: without-response, allow-downgrade: true}
      waves:
        - {name: canary, devices: 1}
        - {name: all, devices: rest}
      """.utf8)
    let first = try program.run(["fleet", "run", file])
    #expect(first.status == 0, "\(first.errors)")
    #expect(first.output.contains(/\d+ events, the last has the hash [0-9a-f]{64}/))
    #expect(first.errors.matches(of: /events, the last has the hash [0-9a-f]{64}/).count == 2)
    let second = try program.run(["fleet", "run", file, "--again", "--json"])
    #expect(second.status == 0, "\(second.output)")
    try Program.checkEvents(of: second)
    heads = second.output.split(separator: "\n").filter { $0.contains(#""fleet_chain""#) }
      .compactMap { $0.firstMatch(of: /"chain":"([0-9a-f]{64})"/).map { String($0.1) } }
    let list = try program.run(["fleet", "list"])
    runs = list.output.split(separator: "\n").dropFirst().reversed().map { String($0.prefix(6)) }
  }

  private func report(_ words: String...) throws -> Program.Outcome {
    try program.run(["fleet", "report"] + words)
  }

  /// Runs Python on the store without its triggers; `link` computes a hash of the chain.
  private func edit(_ python: String) throws {
    let script = """
      import hashlib, sqlite3, struct, sys
      db = sqlite3.connect(sys.argv[1])
      for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall():
          db.execute("DROP TRIGGER " + name)
      def link(former, number, at, payload):
          return hashlib.sha256(former + struct.pack(">Qq", number, at) + payload.encode()).digest()
      \(python)
      db.commit()
      """
    let outcome = try Program.runTool(
      ["python3", "-c", script, program.home.path + "/otaflash/fleet.sqlite"])
    #expect(outcome.status == 0, "\(outcome.errors)")
  }

  // MARK: Hashes

  @Test func eachHashThatTheRunPrintedIsAccepted() throws {
    try #require(heads.count == 3, "one hash per verdict, and one at the end")
    for (index, head) in heads.enumerated() {
      let outcome = try report("--verify", head)
      #expect(outcome.status == 0, "\(outcome.errors)")
      let place = try #require(
        outcome.output.firstMatch(of: /event (\d+) of (\d+) has the given hash/))
      #expect((place.1 == place.2) == (index > 0), "\(outcome.output)")
    }
    #expect(try report(runs[1], "--verify", heads[0].uppercased()).status == 0)
  }

  @Test func aWrongHashIsAnErrorThatNamesBoth() throws {
    let wrong = try report("--verify", Self.zeros, "--html", program.home.path + "/r.html")
    #expect(wrong.status == 65)
    #expect(wrong.code == "E-FLEET-CHAIN")
    #expect(wrong.errors.contains(Self.zeros) && wrong.errors.contains(heads[2]))
    #expect(!FileManager.default.fileExists(atPath: program.home.path + "/r.html"))
    let other = try report(runs[0], "--verify", heads[2])
    #expect(other.status == 65)
    #expect(other.errors.contains("an event of run \(runs[1]) has the given hash"))
  }

  /// If the value of `--verify` is not a hash, it is the name of a run.
  @Test func aRunMayBeNamedAfterVerify() throws {
    #expect(try report("--verify", runs[0]).output.contains("run \(runs[0])"))
    for words in [["--verify", String(Self.zeros.dropLast())], [runs[0], "--verify", runs[0]]] {
      let refused = try program.run(["fleet", "report"] + words)
      #expect(refused.status == 64, "\(refused.errors)")
    }
  }

  /// A program that can write the store can compute a valid chain. Only a hash that is stored
  /// elsewhere reveals the change.
  @Test func aKeptHashRevealsAForgedChain() throws {
    try edit(
      """
      run = "\(runs[1])"
      hash = hashlib.sha256(run.encode()).digest()
      for number, at, payload in db.execute(
          "SELECT number, at, payload FROM event WHERE run = ? ORDER BY number", (run,)
      ).fetchall():
          payload = payload.replace('"doors"', '"gates"')
          hash = link(hash, number, at, payload)
          db.execute(
              "UPDATE event SET payload = ?, hash = ? WHERE run = ? AND number = ?",
              (payload, hash, run, number))
      db.execute("UPDATE run SET head = ? WHERE id = ?", (hash, run))
      """)
    let alone = try report("--verify")
    #expect(alone.status == 0, "\(alone.errors)")
    let kept = try report("--verify", heads[2])
    #expect(kept.status == 65, "\(kept.output)")
    #expect(kept.code == "E-FLEET-CHAIN")
  }

  @Test(arguments: [0, 1]) func aDeletedRunIsReported(_ which: Int) throws {
    try edit(
      """
      db.execute("DELETE FROM event WHERE run = '\(runs[which])'")
      db.execute("DELETE FROM run WHERE id = '\(runs[which])'")
      """)
    let found = try report("--verify")
    #expect(found.status == 65, "\(found.output)")
    #expect(found.code == "E-FLEET-CHAIN")
    #expect(found.errors.contains("run \(runs[which]) (doors) was deleted"), "\(found.errors)")
    let plain = try report("--csv", program.home.path + "/r.csv")
    #expect(plain.status == 0, "\(plain.errors)")
    #expect(plain.errors.contains("was deleted from the store"), "\(plain.errors)")
  }

  @Test func aStoreWhoseRunsWereAllDeletedIsReported() throws {
    try edit(#"db.execute("DELETE FROM event"); db.execute("DELETE FROM run")"#)
    let found = try report("--verify")
    #expect(found.status == 65 && found.code == "E-FLEET-CHAIN", "\(found.errors)")
    for run in runs {
      #expect(found.errors.contains("run \(run) (doors) was deleted"), "\(found.errors)")
    }
    let listed = try program.run(["fleet", "list"])
    #expect(listed.errors.contains("was deleted from the store"), "\(listed.errors)")
  }

  @Test func metricsOverwriteOnlyTheirOwnKind() throws {
    let file = program.home.path + "/run.prom"
    for _ in 0..<2 { #expect(try report("--prometheus", file).status == 0) }
    let text = try String(contentsOfFile: file, encoding: .utf8)
    #expect(
      text.contains(#"otaflash_run_devices{run="\#(runs[1])",campaign="doors",wave="canary","#))
    #expect(try report("--prometheus", program.home.path + "/c.yaml").status == 73)
  }

  // MARK: Signatures

  private static func has(_ tool: String) -> Bool {
    do { return try Program.runTool(["sh", "-c", "command -v \(tool)"]).status == 0 } catch {
      return false
    }
  }

  private func verifyBySSH(_ head: String, _ allowed: String) throws -> Int32 {
    let command = "ssh-keygen -Y verify -f \"$1\" -I anna -n otaflash-run -s \"$2.sig\" < \"$2\""
    return try Program.runTool(["sh", "-c", command, "sh", allowed, head]).status
  }

  @Test(.enabled(if: has("ssh-keygen"), "ssh-keygen(1) is not installed"))
  func sshVerifiesTheSignature() throws {
    let (key, head) = (program.home.path + "/key", program.home.path + "/run.head")
    let made = try Program.runTool(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", key])
    #expect(made.status == 0, "\(made.errors)")
    let signed = try report("--head", head, "--sign", key)
    #expect(signed.status == 0, "\(signed.errors)")
    #expect(signed.output.contains("written: \(head).sig"), "\(signed.output)")
    let text = try String(contentsOfFile: head, encoding: .utf8)
    #expect(text.contains("run \(runs[1])\n") && text.contains("head \(heads[2])\n"), "\(text)")
    let publicKey = try String(contentsOfFile: key + ".pub", encoding: .utf8)
    let allowed = try program.file("allowed", "anna \(publicKey)".utf8)
    #expect(try verifyBySSH(head, allowed) == 0)
    #expect(
      try report("--head", head, "--sign", key).status == 0,
      "earlier files of the command are replaced")
    try text.replacing(runs[1], with: runs[0]).write(
      toFile: head, atomically: false, encoding: .utf8)
    #expect(try verifyBySSH(head, allowed) != 0, "the signature of another text")
  }

  /// Without a terminal there is no prompt for a passphrase: the command fails and writes no file.
  @Test(.enabled(if: has("ssh-keygen"), "ssh-keygen(1) is not installed"))
  func aKeyWithAPassphraseIsAnErrorWithoutATerminal() throws {
    let (key, head) = (program.home.path + "/key", program.home.path + "/run.head")
    _ = try Program.runTool(["ssh-keygen", "-q", "-t", "ed25519", "-N", "secret", "-f", key])
    let refused = try report("--head", head, "--sign", key, "--no-input")
    #expect(refused.status == 78, "\(refused.errors)")
    #expect(refused.code == "E-KEY-FILE", "\(refused.errors)")
    #expect(!FileManager.default.fileExists(atPath: head))
  }

  @Test(.enabled(if: has("minisign"), "minisign(1) is not installed"))
  func minisignVerifiesTheSignature() throws {
    let (key, head) = (program.home.path + "/key", program.home.path + "/run.head")
    let made = try Program.runTool(["minisign", "-G", "-W", "-p", key + ".pub", "-s", key])
    #expect(made.status == 0, "\(made.errors)")
    let signed = try report("--head", head, "--sign", key)
    #expect(signed.status == 0, "\(signed.errors)")
    let verification = ["minisign", "-V", "-m", head, "-p", key + ".pub"]
    let verified = try Program.runTool(verification)
    #expect(verified.status == 0, "\(verified.errors)")
    #expect(verified.output.contains("head \(heads[2])"), "\(verified.output)")
    try "otaflash run head 1\nrun x\n".write(toFile: head, atomically: false, encoding: .utf8)
    #expect(try Program.runTool(verification).status != 0, "the signature of another text")
  }

  @Test func aFileThatIsNotAKeyIsRefused() throws {
    let head = program.home.path + "/run.head"
    #expect(try report("--sign", program.home.path + "/c.yaml").status == 64)
    #expect(try report("--head", head, "--sign", program.home.path + "/c.yaml").status == 78)
    #expect(try report("--head", head, "--sign", program.home.path + "/none").status == 66)
    #expect(
      try report("--head", program.home.path + "/c.yaml").status == 73, "no other file is replaced")
    #expect(!FileManager.default.fileExists(atPath: head))
  }
}
