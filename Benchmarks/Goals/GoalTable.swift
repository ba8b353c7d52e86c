import Glibc

/// Measures the goals of docs/performance.md and prints the rows of its table. The exit code is 1
/// if a goal was missed.
@main
enum GoalTable {
  private static let usage =
    "usage: goals link | goals sizes | goals protocols | goals delta | goals pair OLD NEW NAME | "
    + "goals patch [PYTHON SCRIPT] | "
    + "goals host SINK-DEVICE | goals bumble SINK-DEVICE PYTHON SCRIPT"

  static func main() async throws {
    let words = Array(CommandLine.arguments.dropFirst())
    var isMet = true
    func show(_ goals: [Goal]) {
      for goal in goals {
        print(
          "| \(goal.what) | \(goal.wanted) | \(goal.measured) | \(goal.isMet ? "met" : "missed") |")
        isMet = isMet && goal.isMet
      }
      fflush(nil)
    }
    switch (words.first, words.count) {
    case ("link", 1): show(try LinkGoals.all())
    case ("sizes", 1): show(try SizeGoals.all { print($0) })
    case ("protocols", 1):
      show(
        try ProtocolGoals.all() + SilabsGoals.all() + SUOTAGoals.all() + OADGoals.all()
          + MicrobitGoals.all() + [ResourceGoals.rate()])
    case ("delta", 1): show(try DeltaGoals.all())
    case ("pair", 4):
      let (old, new) = (try content(of: words[1]), try content(of: words[2]))
      show(try ReleaseGoals(name: words[3], old: old, new: new).all())
    case ("patch", 1): show(try PatchCost(detools: nil).all())
    case ("patch", 3): show(try PatchCost(detools: (words[1], words[2])).all())
    case ("bumble", 4):
      show([
        try await BumbleComparison(sinkDevice: words[1], python: words[2], script: words[3]).goal()
      ])
    case ("host", 2): try await HostGoals(sinkDevice: words[1]).all(show)
    default:
      print(usage)
      exit(64)
    }
    exit(isMet ? 0 : 1)
  }

  private struct Unreadable: Error { let path: String }

  private static func content(of path: String) throws -> [UInt8] {
    guard let file = fopen(path, "rb") else { throw Unreadable(path: path) }
    defer { fclose(file) }
    fseek(file, 0, SEEK_END)
    let size = ftell(file)
    rewind(file)
    return [UInt8](unsafeUninitializedCapacity: size) { buffer, count in
      count = fread(buffer.baseAddress, 1, size, file)
    }
  }
}
