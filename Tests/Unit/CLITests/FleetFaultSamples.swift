import OtaflashFleet
import OtaflashFleetHost
import OtaflashFleetStore
import OtaflashState

@testable import OtaflashConsole
@testable import OtaflashProgram
@testable import otaflash

/// A sample of every fault of a campaign; `FaultSamples` has the others.
extension FaultSamples {
  private static let passage = FilePassage(
    path: "it's.yaml", line: 3, column: 5, words: "there is no such key", source: "abcdefg")

  static let fleets: [FleetFault] =
    [
      .campaign(path: "it's.yaml", [passage]),
      .campaign(path: "-c.yaml", [passage, passage], omitted: 1),
      .named(by: "c.yaml", at: passage, .file(.missing(path: "a.bin"))),
      .notRegular(path: "a fifo"), .plan(path: "a plan", words: "it is not a plan"),
      .planDiffers(plan: "p.json", campaign: "-c.yaml", differences: ["parallel: 3"]),
      .held(.held(store: "/s", by: 7)), .held(.held(store: "/s", by: nil)),
      .held(.state(.noPlace)), .refused(words: "the run has ended", run: "7f3a"),
      .unconfirmed(run: "7f3a"),
      .unanswered(run: "7f3a"),
      .changed(run: "7f3a", campaign: "c.yaml"),
      .brokenChain(run: "7f3a", words: "event 7 was changed"),
      .otherHash(run: "7f3a", given: "ab", events: 26, head: "cd", of: nil),
      .otherHash(run: "7f3a", given: "ab", events: 26, head: "cd", of: "81c0"),
      .lostRuns(run: "7f3a", ["run 81c0 (doors) was deleted from the store"]),
      .signing(key: "it's a key", words: "it is neither an SSH key nor a minisign key"),
      .waits(run: "7f3a", words: "paused: an operator requested it"), .interrupted(run: "7f3a"),
      .failed(words: "it cannot be"), .search(.none), .search(.unknown("x")),
      .search(.ambiguous("7", ["7a", "7b"])), .search(.storage(StorageFault(.full, "full"))),
      .file(.missing(path: "c.yaml")),
    ]
    + StorageFault.Kind.allCases.map { .store(StorageFault($0, "/s cannot be used")) }

  static func place(_ fault: FleetFault) -> Int {
    switch fault {
    case .campaign: 0
    case .file: 1
    case .store: 2
    case .search: 3
    case .held: 4
    case .refused: 5
    case .unconfirmed: 6
    case .unanswered: 7
    case .changed: 8
    case .brokenChain: 9
    case .waits: 10
    case .interrupted: 11
    case .failed: 12
    case .named: 13
    case .notRegular: 14
    case .plan: 15
    case .planDiffers: 16
    case .otherHash: 17
    case .lostRuns: 18
    case .signing: 19
    }
  }
}
