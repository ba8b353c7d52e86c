import Glibc
import OtaflashConsole
import OtaflashDevices
import OtaflashFirmware
import OtaflashState

extension FaultReport {
  package init(_ fault: FileFault, in context: FaultContext) {
    self =
      switch fault {
      case .missing(let path):
        FaultReport(
          .file, "there is no file \(path)",
          why: "A relative path is resolved against the current directory.",
          help: context.list(OutputFile.folder(of: path)))
      case .unreadable(let path, let errno):
        FaultReport(
          .file, "\(Self.named(path)) cannot be read: \(SystemError.text(errno))",
          why: Self.why(unreadable: path, errno),
          help: path == ImageFile.standardInput
            ? context.help(of: "image info") : context.list(path))
      case .isDirectory(let path):
        FaultReport(
          .file, "\(path) is a directory", why: "A file is required.", help: context.list(path))
      case .silent(let path, let waited):
        FaultReport(
          .file, "\(path) sent no data for \(Text.seconds(waited))",
          why: "The input is not a regular file, and no process writes to it.",
          help: context.list(path), retryable: true)
      case .tooLarge(let path, let limit):
        FaultReport(
          .file, "\(path) has more than \(Text.grouped(limit)) B",
          why: "The command accepts no larger file; nothing was sent to any device.",
          help: context.list(path))
      case .interrupted(let path):
        FaultReport(
          .interrupted, "reading \(path) was stopped", why: "Nothing was sent to any device.",
          help: context.again, exit: .missingInput)
      }
  }

  private static func named(_ path: String) -> String {
    path == ImageFile.standardInput ? "standard input" : path
  }

  private static func why(unreadable path: String, _ errno: Int32) -> String {
    switch errno {
    case EACCES, EPERM: "This user has no permission to read the file."
    case EBADF: "The input is closed."
    case ETIMEDOUT: "No data was received for ten minutes."
    case EIO: "The disk or its hardware has failed."
    case EFBIG: "The file exceeds the limit of 64 MiB for text files."
    default: "The system refused the operation."
    }
  }

  package init(_ fault: ProjectFile.Fault, in context: FaultContext) {
    switch fault {
    case .unreadable(let fault):
      self.init(fault, in: context)
    case .foreignOwner(let path):
      self.init(
        .project, "\(path) belongs to another user",
        why: "Its owner could change the options of your commands.",
        help: "ls -l -- " + ShellWords.quote(path), exit: .permissionDenied)
    case .malformed(let passage):
      self.init(
        .project, passage.what, why: "Nothing was done.",
        help: "sed -n \(passage.line)p -- " + ShellWords.quote(passage.path),
        passages: [passage])
    case .noSuchProfile(let name, let path, let known):
      self.init(
        .project, "\(path) has no profile '\(name)'",
        why: known.isEmpty
          ? "It has no profiles; write a table [profiles.\(name)]."
          : "Its profiles are \(known.joined(separator: ", ")).",
        help: context.showConfiguration)
    case .noFile(let profile):
      self.init(
        .project, "there is no \(ProjectFile.name) with a profile '\(profile)'",
        why: "The file is searched in the working directory and in the folders above it.",
        help: context.showConfiguration)
    }
  }

  package init(_ fault: BaselineFault, in context: FaultContext) {
    let write = context.command(
      context.subject.device.map { ["bench", "-d", $0, "--json"] } ?? ["bench", "--help"])
    self =
      switch fault {
      case .file(let fault): FaultReport(fault, in: context)
      case .malformed(let path):
        FaultReport(
          .baseline, "\(path) holds no measurements",
          why: "A baseline is the --json output of an earlier run.", help: write)
      case .nothingInCommon(let path):
        FaultReport(
          .baseline, "\(path) has no measurement in common with this run",
          why: "Measurements match if their mode, MTU, window, PHY and interval are equal.",
          help: write)
      }
  }

  package init(_ fault: KeyFileFault, in context: FaultContext) {
    self =
      switch fault {
      case .file(let fault): FaultReport(fault, in: context)
      case .exposed(let path, let mode):
        FaultReport(
          .keyFileExposed, "other users can read \(path) (mode \(String(mode, radix: 8)))",
          help: "chmod 600 -- " + ShellWords.quote(path))
      case .wrongLength(let path, let bytes):
        FaultReport(
          .keyFile, "\(path) is not a key: it holds \(bytes) bytes",
          why: "A key is 16 to 64 bytes, raw or as hex digits.",
          help: "wc -c -- " + ShellWords.quote(path))
      }
  }

  package init(_ fault: ImageFileFault, in context: FaultContext) {
    self =
      switch fault {
      case .missing(let path): FaultReport(FileFault.missing(path: path), in: context)
      case .isDirectory(let path): FaultReport(FileFault.isDirectory(path: path), in: context)
      case .unreadable(let path, let errno):
        FaultReport(FileFault.unreadable(path: path, errno: errno.rawValue), in: context)
      case .cancelled: FaultReport(.stopped, in: context)
      case .malformed(let path, let fault):
        FaultReport(
          .image, "\(Self.named(path)): \(fault)",
          why: "This file cannot be sent; nothing was written.",
          help: Self.show(fault, in: path, context))
      case .sidecar(let path, let fault):
        FaultReport(
          .image, "\(path): \(fault)",
          why: "A sidecar file states the version and hardware of an image; see otaflash-image(5).",
          help: "cat -- " + ShellWords.quote(path))
      }
  }

  /// Returns the command that shows the location of the fault in the file.
  private static func show(
    _ fault: FirmwareFault, in path: String, _ context: FaultContext
  ) -> String {
    if case .chooseRegion(let regions) = fault.remedy, let first = regions.first {
      return context.again(choosing: "--region", "\(first)")
    }
    guard context.subject.image != "-" else {
      return context.help(of: "image verify")
    }
    let file = "-- " + ShellWords.quote(path)
    // unzip does not support `--`.
    let archive = ShellWords.quote(path.hasPrefix("-") ? "./" + path : path)
    return switch fault.remedy {
    case .lookAtLine(let line): "sed -n \(line)p \(file)"
    case .lookAtBytes(let range):
      "od -A d -t x1 -j \(range.lowerBound) -N \(range.count) \(file)"
    case .lookAtBeginning: "od -A d -c -N 64 \(file)"
    case .lookAtArchive: "unzip \(Self.isUnreadable(fault) ? "-v" : "-l") \(archive)"
    case .lookAtFileInArchive("manifest.json"): "unzip -p \(archive) manifest.json"
    case .lookAtFileInArchive("resources.json"): "unzip -p \(archive) resources.json"
    case .lookAtFileInArchive(let name):
      "unzip -p \(archive) \(ShellWords.quote(name)) | od -A d -t x1"
    case .convertWithEsptool: "esptool elf2image \(file)"
    case .mendSidecar: "cat -- " + ShellWords.quote(path + ImageFile.sidecarSuffix)
    case .chooseAnotherFile:
      path.hasPrefix("/dev/") && fault != .empty
        ? "head -c 64 \(file) | od -A d -c" : "ls -l \(file)"
    case .inspectImage, .chooseRegion, .buildAgain, .signImage, .chooseAnotherKey:
      context.command(["image", "info", path])
    }
  }

  /// Returns whether the archive itself is malformed. (The alternative is a missing entry.)
  private static func isUnreadable(_ fault: FirmwareFault) -> Bool {
    if case .zip = fault { true } else { false }
  }
}
