import ArgumentParser
import FoundationEssentials
import Glibc
import OtaflashConsole

/// The process of a program, from its arguments to its exit status.
package enum Program {
  /// The names of a program in printed commands.
  package struct Name: Sendable {
    /// The program, as it was called.
    let called: String
    /// The program of the commands that a remedy suggests.
    let commands: String

    package init(called: String, commands: String? = nil) {
      self.called = called
      self.commands = commands ?? called
    }
  }

  // This function is not `async`, because the runtime would then park this thread with all signals
  // unblocked, and a signal would kill the process without a message.
  /// Runs the program, and does not return.
  ///
  /// - Parameters:
  ///   - root: the command that groups all others.
  ///   - commands: the program of the commands that a remedy suggests; `nil` = this program.
  package static func main(
    _ root: any (ParsableCommand & Sendable).Type, commands: String? = nil
  ) {
    let environment = ProcessInfo.processInfo.environment
    Startup.occupyStandardStreams()
    Startup.turnBacktracesOff(environment: environment)
    let (interruption, queue) = (Interruption(), OutputQueue())
    let run = Run(
      root: root,
      program: Name(called: CommandLine.arguments.first ?? "otaflash", commands: commands),
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
