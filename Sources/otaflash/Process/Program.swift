import FoundationEssentials
import Glibc

@main
enum Program {
  static func main() async {
    let interruption = Interruption()
    interruption.watch()
    let run = Run(
      program: CommandLine.arguments.first ?? "otaflash",
      arguments: Array(CommandLine.arguments.dropFirst()),
      environment: ProcessInfo.processInfo.environment, interruption: interruption)
    switch await run.perform() {
    case .signal(let number): Interruption.die(by: number)
    case let status: exit(status.code)
    }
  }
}
