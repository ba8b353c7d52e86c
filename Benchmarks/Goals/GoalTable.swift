import Glibc

/// Measures the goals of docs/performance.md and prints the rows of its table; exit 1 when one is
/// missed.
@main
enum GoalTable {
  private static let usage = "usage: goals link | goals host SINK-DEVICE"

  static func main() async throws {
    let words = Array(CommandLine.arguments.dropFirst())
    let goals: [Goal]
    switch (words.first, words.count) {
    case ("link", 1): goals = try LinkGoals.all()
    case ("host", 2): goals = try await HostGoals(sinkDevice: words[1]).all()
    default:
      print(usage)
      exit(64)
    }
    for goal in goals {
      print(
        "| \(goal.what) | \(goal.wanted) | \(goal.measured) | \(goal.isMet ? "met" : "missed") |")
    }
    exit(goals.allSatisfy(\.isMet) ? 0 : 1)
  }
}
