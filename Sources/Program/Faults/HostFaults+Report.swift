import Glibc
import OtaflashConsole
import OtaflashDevices

extension FaultContext {
  /// Returns this run's command with another value for an option.
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
  /// Describes why a file is not written.
  package init(_ fault: OutputFileFault, of file: OutputFile, in context: FaultContext) {
    switch fault {
    case .isInput:
      self.init(
        .output, "\(file.path) is not written: this run reads it or stores its state in it",
        why: "The content of the file would be lost. \(file.option) requires a separate file.",
        help: context.again(replacing: file.option, with: file.another))
    case .otherKind:
      self.init(
        .output, "\(file.path) is not written: it exists and is not a \(file.kind.name) file",
        why: "The content of the file would be lost. \(file.option) overwrites only files of the "
          + "same kind.",
        help: context.again(replacing: file.option, with: file.another))
    case .danglingLink:
      self.init(
        .output, "\(file.path) is not written: it is a dangling link",
        why: "The target of the link must exist.", help: context.list(file.path))
    case .system(ENXIO):
      self.init(
        .output, "\(file.path) cannot be written: no process reads the pipe",
        why: "First start the program that reads the recording.", help: context.again,
        retryable: true)
    case .system(let errno):
      self.init(
        .output, "\(file.path) cannot be written: \(SystemError.text(errno))",
        why: SystemError.reasonOfOutput(errno) + ": "
          + (file.kind == .patch
            ? "the previous file is unchanged." : "the file may be incomplete."),
        help: "ls -ld -- " + ShellWords.quote(OutputFile.folder(of: file.path)))
    }
  }

  /// Describes a resource limit that is too low.
  package init(_ shortage: ResourceShortage, in context: FaultContext) {
    switch shortage {
    case .descriptors(let free, let needed):
      self.init(
        .systemCall, "this process may open \(free) more files; \(needed) are needed",
        why: "The limit on open files (ulimit -n) is too low, or the parent left many files open.",
        help: "ulimit -n 256 && " + context.again)
    case .addressSpace(let limit, let needed):
      self.init(
        .systemCall,
        "this process may use \(limit >> 20) MiB of address space; \(needed >> 20) are needed",
        why: "The limit on address space (ulimit -v) is too low.",
        help: "ulimit -v unlimited && " + context.again)
    }
  }
}
