import Glibc
import OtaflashConsole
import OtaflashDevices

extension FaultContext {
  /// This run's command with another value for an option that has one, wherever that came from.
  func again(replacing option: String, with value: String) -> String {
    var words = arguments
    let short = option == "--output" ? "-o" : option
    if let index = words.firstIndex(where: { $0 == option || $0 == short }),
      index + 1 < words.count
    {
      words[index + 1] = value
    } else if let index = words.firstIndex(where: { $0.hasPrefix(option + "=") }) {
      words[index] = "\(option)=\(value)"
    } else {
      return working(words, adding: [option, value])
    }
    return command(words)
  }
}

extension FaultReport {
  /// Why a file is left as it is.
  init(_ fault: OutputFileFault, of file: OutputFile, in context: FaultContext) {
    let show = "ls -l -- " + ShellWords.quote(file.path)
    switch fault {
    case .isInput:
      self.init(
        .output, "\(file.path) is not written to: this run reads it or keeps its state there",
        why: "What it holds would be lost. \(file.option) wants a file of its own.",
        help: context.again(replacing: file.option, with: file.another), exit: .outputFailed)
    case .otherKind:
      self.init(
        .output, "\(file.path) is not written to: it is there, and no \(file.kind.name) file",
        why: "What it holds would be lost. \(file.option) writes over files of its own kind only.",
        help: context.again(replacing: file.option, with: file.another), exit: .outputFailed)
    case .danglingLink:
      self.init(
        .output, "\(file.path) is not written to: it is a link that leads nowhere",
        why: "A link is followed to a file that is there, never to make one.", help: show,
        exit: .outputFailed)
    case .system(ENXIO):
      self.init(
        .output, "\(file.path) cannot be written: nobody reads the pipe",
        why: "Whoever shows the recording must be started first.", help: context.again,
        exit: .outputFailed, retryable: true)
    case .system(let errno):
      self.init(
        .output, "\(file.path) cannot be written: \(SystemError.text(errno))",
        why: SystemError.reasonOfOutput(errno) + ": "
          + (file.kind == .patch
            ? "what was there is still there." : "what is there is not complete."),
        help: "ls -ld -- " + ShellWords.quote(OutputFile.folder(of: file.path)),
        exit: .outputFailed)
    }
  }

  /// What the parent did not leave this process.
  init(_ shortage: ResourceShortage, in context: FaultContext) {
    switch shortage {
    case .descriptors(let free, let needed):
      self.init(
        .systemCall, "this process may open \(free) more files; \(needed) are needed",
        why: "The limit on open files (ulimit -n) is too low, or the parent left many open.",
        help: "ulimit -n 256 && " + context.again, exit: .systemCall)
    case .addressSpace(let limit, let needed):
      self.init(
        .systemCall,
        "this process may use \(limit >> 20) MiB of addresses; \(needed >> 20) are needed",
        why: "The limit on address space (ulimit -v) is too low.",
        help: "ulimit -v unlimited && " + context.again, exit: .systemCall)
    }
  }
}
