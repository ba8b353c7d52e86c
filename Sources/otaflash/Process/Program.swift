import FoundationEssentials
import Glibc
import OtaflashConsole

@main
enum Program {
  /// Not `async`: the runtime would then park this thread with all signals open, and a signal would
  /// kill the process before anything could be said.
  static func main() {
    let environment = ProcessInfo.processInfo.environment
    Startup.occupyStandardStreams()
    Startup.turnBacktracesOff(environment: environment)
    let (interruption, queue) = (Interruption(), OutputQueue())
    let run = Run(
      program: CommandLine.arguments.first ?? "otaflash",
      arguments: Array(CommandLine.arguments.dropFirst()),
      environment: environment, interruption: interruption, queue: queue)
    if let shortage = Startup.shortage() { exit(run.refuse(shortage).code) }
    interruption.watch()
    // Detached: a job of the main actor would never run, since this thread only writes. It is the
    // program's whole life, so nothing waits for it or cancels it from outside.
    Task.detached {
      switch await run.perform() {
      case .signal(let number): Interruption.die(by: number)
      case let status: exit(status.code)
      }
    }
    queue.serve()
  }
}
