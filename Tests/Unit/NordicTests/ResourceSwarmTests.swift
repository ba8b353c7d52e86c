import Foundation
import OtaflashFirmware
import OtaflashGATT
import OtaflashSimulation
import OtaflashUpdate
import Testing

/// Transfers of resources with faults that are drawn from a seed. `OTAFLASH_SEEDS=1000-1999` runs
/// other seeds.
@Suite struct ResourceSwarmTests {
  private static let seeds: ClosedRange<UInt64> = {
    let text = ProcessInfo.processInfo.environment["OTAFLASH_SEEDS"] ?? ""
    let limits = text.split(separator: "-").compactMap { UInt64($0) }
    return limits.count == 2 && limits[0] <= limits[1] ? limits[0]...limits[1] : 1...200
  }()

  @Test func noSeedLeavesAWrongFile() throws {
    var outcomes: [String: Int] = [:]
    for seed in Self.seeds {
      let scenario = ResourceScenario(seed: seed)
      let (outcome, violations) = try scenario.judged()
      #expect(violations.isEmpty, "OTAFLASH_SEEDS=\(seed)-\(seed): \(scenario): \(violations)")
      outcomes[outcome, default: 0] += 1
    }
    // The draw must contain interruptions as well as complete transfers.
    guard Self.seeds.count >= 200 else { return }
    #expect(outcomes["success", default: 0] * 4 > Self.seeds.count, "\(outcomes)")
    #expect(outcomes["success", default: 0] * 10 < Self.seeds.count * 9, "\(outcomes)")
  }
}

/// A transfer to a watch that has older files, with a link and faults drawn from a seed.
private struct ResourceScenario: CustomStringConvertible {
  private let old: ResourcePackage
  private let new: ResourcePackage
  private let link: String
  private let faults: [String]
  private let cancelAfter: Duration?
  private let repeatsConnections: Bool

  /// Faults that end, so that a host that connects again must succeed.
  private static let passing = ["cut-at-pdu", "cut-after"]

  init(seed: UInt64) {
    var random = SeededRandom(seed: seed)
    func pick<Element>(_ choices: [Element]) -> Element {
      choices[Int.random(in: 0..<choices.count, using: &random)]
    }
    func number(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &random) }
    func sizes() -> [Int] { [number(1...3000), number(1...300), number(1...6000)] }
    old = resources(seed: seed &+ 1 << 40, sizes: sizes())
    new = resources(seed: seed, sizes: sizes())
    link =
      "seed=\(seed)&files=64K&mtu=\(pick([185, 247, 256]))"
      + "&erase=\(pick(["0", "85ms", "400ms"]))&write=\(pick(["0", "40ms"]))"
      + "&interval=\(pick(["7.5ms", "15ms", "50ms"]))&phy=\(pick(["1M", "2M"]))"
      + "&ll=\(pick([27, 251]))&loss=\(pick(["0%", "0%", "1%"]))"
    let known = [
      "cut-at-pdu=\(number(1...400))", "cut-after=\(number(1...8000))ms",
      "reset-at-flash-op=\(number(1...80))\(pick(["", "&torn"]))",
      "notification-loss=\(number(1...20))%", "late-pdu=\(number(1...200))",
      "nonsense-pdus=\(pick(["0.1%", "1%"]))", "drop=\(pick(["timeout", "close"]))",
    ]
    faults = (0..<number(0...3)).map { _ in pick(known) }
    cancelAfter = number(0...9) == 0 ? .milliseconds(number(1...8000)) : nil
    repeatsConnections = number(0...3) != 0
  }

  var description: String {
    "infinitime?\(link) \(faults), cancelled after \(cancelAfter.map { "\($0)" } ?? "-")"
  }

  private var mustSucceed: Bool {
    cancelAfter == nil && repeatsConnections
      && faults.allSatisfy { fault in Self.passing.contains { fault.hasPrefix($0) } }
  }

  /// Runs the transfer, and after a failure the same transfer without faults.
  func judged() throws -> (outcome: String, violations: [String]) {
    let settings = ([link] + Set(faults).sorted()).joined(separator: "&")
    let watch = try Watch(settings)
    for file in old.files { try watch.put(file.bytes, at: file.path) }
    try watch.put([7], at: "/old.bin")
    let run = try watch.store(new, after: cancelAfter) { options in
      if !repeatsConnections { options.reconnection = .none }
    }
    var violations: [String] = []
    for (path, bytes) in try watch.files() where !["/otaflash.part", "/old.bin"].contains(path) {
      guard bytes != old.content[path], bytes != new.content[path] else { continue }
      violations.append("wrong \(path)")
    }
    if case .success = run.result {
      return ("success", violations + (try watch.files() == new.content ? [] : ["false success"]))
    }
    if mustSucceed { violations.append("needless failure: \(run.result)") }
    let cure = try Watch(link, storage: watch.storage).store(new)
    if case .failure(let fault) = cure.result { violations.append("incurable: \(fault)") }
    if try watch.files() != new.content { violations.append("wrong files after the next transfer") }
    return ("failure", violations)
  }
}
