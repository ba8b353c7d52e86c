import FoundationEssentials
import Glibc
import OtaflashConsole

@main
enum Program {
  /// This function is not `async`, because the runtime would then park this thread with all signals
  /// unblocked, and a signal would kill the process without a message.
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
    // The task is detached, because a job of the main actor would never run: this thread only
    // writes. The task spans the complete program, so no other code waits for it or cancels it.
    Task.detached {
      let status = await run.perform()
      if let signal = status.signal { Interruption.die(by: signal) }
      exit(status.code)
    }
    queue.serve()
  }
}
