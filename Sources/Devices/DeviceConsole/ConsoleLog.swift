import Glibc
import OtaflashConsole
import Synchronization

extension OutputFile.Kind {
  /// Recognized by the time at the start of the first line.
  package static let consoleLog = Self("console log", newSuffix: ".new.log") {
    $0.firstMatch(of: /^\d{4}-\d\d-\d\dT\d\d:\d\d:/) != nil
  }
}

/// The file to which a console is appended. A failed write ends the log, not the console.
package final class ConsoleLog: Sendable {
  private let file: OutputFile
  private let output: FileOutput
  private let console: Console
  private let hasFailed = Mutex(false)

  /// - Throws: if the file cannot be opened, or contains something else.
  package init(_ path: String, in session: Session) throws(CommandFault) {
    let file = OutputFile(path: path, kind: .consoleLog, option: "--log")
    self.file = file
    console = session.console
    do throws(OutputFileFault) {
      try file.check(avoiding: session.inputs)
      let descriptor = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0o666)
      guard descriptor >= 0 else { throw OutputFileFault.system(errno: errno) }
      output = FileOutput(descriptor: descriptor)
    } catch {
      throw .outputFile(file, error)
    }
  }

  deinit { close(output.descriptor) }

  package func append(_ event: ConsoleEvent, at time: String) {
    let isOver = hasFailed.withLock { $0 }
    guard !isOver, let errno = output.write("\(time)  \(event.line.text)\n") else { return }
    hasFailed.withLock { $0 = true }
    console.note("note: \(file.path) is incomplete: \(SystemError.text(errno))")
  }
}
