import Glibc
import OtaflashConsole
import OtaflashDevices
import OtaflashFirmware
import OtaflashState
import OtaflashUpdate

extension FaultReport {
  init(_ fault: FileFault, in context: FaultContext) {
    self =
      switch fault {
      case .missing(let path):
        FaultReport(
          .file, "there is no file \(path)", why: "The path is looked up from where you are.",
          help: "ls -l -- " + ShellWords.quote(OutputFile.folder(of: path)), exit: .missingInput)
      case .unreadable(let path, let errno):
        FaultReport(
          .file, "\(Self.named(path)) cannot be read: \(SystemError.text(errno))",
          why: Self.why(unreadable: path, errno),
          help: path == ImageFile.standardInput
            ? context.command(["image", "info", "--help"]) : "ls -l -- " + ShellWords.quote(path),
          exit: .missingInput)
      case .isDirectory(let path):
        FaultReport(
          .file, "\(path) is a directory", why: "A file is wanted.",
          help: "ls -l -- " + ShellWords.quote(path), exit: .missingInput)
      case .silent(let path, let waited):
        FaultReport(
          .file, "nothing came out of \(path) for \(Text.seconds(waited))",
          why: "It is no file, and whoever was to write into it does not.",
          help: "ls -l -- " + ShellWords.quote(path), exit: .missingInput, retryable: true)
      case .interrupted(let path):
        FaultReport(
          .interrupted, "reading \(path) was stopped", why: "Nothing was sent to any device.",
          help: context.again, exit: .missingInput, retryable: true)
      }
  }

  private static func named(_ path: String) -> String {
    path == ImageFile.standardInput ? "standard input" : path
  }

  private static func why(unreadable path: String, _ errno: Int32) -> String {
    switch errno {
    case EACCES, EPERM: "The file exists, but not for this user."
    case EBADF: "It is closed: nothing can come from it."
    case ETIMEDOUT: "Nothing came for ten minutes; whoever was to write it has not."
    case EIO: "The disk or the device below it is at fault."
    case EFBIG: "It is larger than otaflash reads: 64 MiB for a text."
    default: "The system refuses it."
    }
  }

  init(_ fault: BaselineFault, in context: FaultContext) {
    let write =
      context.subject.device.map { ["bench", "-d", $0, "--json"] } ?? ["bench", "--help"]
    self =
      switch fault {
      case .file(let fault): FaultReport(fault, in: context)
      case .malformed(let path):
        FaultReport(
          .baseline, "\(path) holds no measurements",
          why: "A baseline is what an earlier run wrote with --json.", help: context.command(write),
          exit: .malformedInput)
      case .nothingInCommon(let path):
        FaultReport(
          .baseline, "\(path) has no case in common with this run",
          why: "Cases are the same when mode, MTU, window, PHY and interval are.",
          help: context.command(write), exit: .malformedInput)
      }
  }

  init(_ fault: KeyFileFault, in context: FaultContext) {
    self =
      switch fault {
      case .file(let fault): FaultReport(fault, in: context)
      case .exposed(let path, let mode):
        FaultReport(
          .keyFileExposed, "\(path) can be read by others (mode \(String(mode, radix: 8)))",
          why: "Who has the key can put any firmware on the device.",
          help: "chmod 600 -- " + ShellWords.quote(path), exit: .permissionDenied)
      case .wrongLength(let path, let bytes):
        FaultReport(
          .keyFile, "\(path) holds \(bytes) bytes, which is no key",
          why: "A key is 16 to 64 bytes, raw or as hex digits.",
          help: "wc -c -- " + ShellWords.quote(path), exit: .configuration)
      }
  }

  init(_ fault: ImageFileFault, in context: FaultContext) {
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
          why: "It cannot be sent as it is; nothing was written.",
          help: Self.show(fault, in: path, context), exit: .malformedInput)
      case .sidecar(let path, let fault):
        FaultReport(
          .image, "\(path): \(fault)",
          why: "The file beside an image says its version and hardware; see otaflash-image(5).",
          help: "cat -- " + ShellWords.quote(path), exit: .malformedInput)
      }
  }

  init(_ fault: StateFault, in context: FaultContext) {
    let (verdict, what): (Verdict, String?) =
      switch fault {
      case .deviceBusy(let device, _):
        (
          Verdict(.deviceBusy, .deviceUnavailable, retryable: true),
          "another otaflash works on \(device)"
        )
      case .registryBusy: (Verdict(.state, .systemCall, retryable: true), nil)
      case .noPlace, .notADirectory, .impossiblePlace, .notAFile, .tooLarge, .newerFormat:
        (Verdict(.state, .configuration), nil)
      case .permissionDenied: (Verdict(.state, .permissionDenied), nil)
      case .diskFull: (Verdict(.state, .outputFailed), nil)
      case .system: (Verdict(.state, .systemCall), nil)
      }
    self.init(fault, verdict, what: what, help: context.doctor, in: context)
  }

  /// The command that shows the place in the file.
  private static func show(
    _ fault: FirmwareFault, in path: String, _ context: FaultContext
  ) -> String {
    if case .chooseRegion(let regions) = fault.remedy, let first = regions.first {
      return context.again(choosing: "--region", "\(first)")
    }
    guard context.subject.image != "-" else {
      return context.command(["image", "verify", "--help"])
    }
    let file = "-- " + ShellWords.quote(path)
    // unzip knows no `--`.
    let archive = ShellWords.quote(path.hasPrefix("-") ? "./" + path : path)
    return switch fault.remedy {
    case .lookAtLine(let line): "sed -n \(line)p \(file)"
    case .lookAtBytes(let range):
      "od -A d -t x1 -j \(range.lowerBound) -N \(range.count) \(file)"
    case .lookAtBeginning: "od -A d -c -N 64 \(file)"
    case .lookAtArchive: "unzip \(Self.isUnreadable(fault) ? "-v" : "-l") \(archive)"
    case .lookAtFileInArchive("manifest.json"): "unzip -p \(archive) manifest.json"
    case .lookAtFileInArchive(let name):
      "unzip -p \(archive) \(ShellWords.quote(name)) | od -A d -t x1"
    case .mendSidecar: "cat -- " + ShellWords.quote(path + ImageFile.sidecarSuffix)
    case .chooseAnotherFile:
      path.hasPrefix("/dev/") && fault != .empty
        ? "head -c 64 \(file) | od -A d -c" : "ls -l \(file)"
    case .inspectImage, .chooseRegion, .buildAgain, .signImage, .chooseAnotherKey:
      context.command(["image", "info", path])
    }
  }

  /// The archive itself is at fault, not what is missing in it.
  private static func isUnreadable(_ fault: FirmwareFault) -> Bool {
    if case .zip = fault { true } else { false }
  }
}
