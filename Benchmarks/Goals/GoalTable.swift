import Glibc

/// Measures every goal of docs/performance.md and prints the table; exit 1 when one is missed.
@main
enum GoalTable {
  static func main() async throws {
    guard CommandLine.arguments.count == 2 else {
      print("usage: goals SINK-DEVICE")
      exit(64)
    }
    print("| what | goal | measured | |\n|---|---|---|---|")
    let link = try LinkGoals.all()
    show(link)
    let host = try await HostGoals(sinkDevice: CommandLine.arguments[1]).all()
    show(host)
    exit((link + host).allSatisfy(\.isMet) ? 0 : 1)
  }

  private static func show(_ goals: [Goal]) {
    for goal in goals {
      print(
        "| \(goal.what) | \(goal.wanted) | \(goal.measured) | \(goal.isMet ? "met" : "missed") |")
    }
    fflush(nil)
  }
}
